//! What can be done to the events of a good answer before they are sent.

/// One thing that is done to all events. Several are done in the order in which they are named.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    /// These bytes come before everything.
    Begins(Vec<u8>),
    /// These bytes come before every event.
    Between(Vec<u8>),
    /// These bytes come where others should be.
    Replaced(Vec<u8>, Vec<u8>),
    /// Every line ends so: `\n`, `\r\n` or `\r`.
    LineEndings(&'static str),
    /// Every event comes twice.
    Doubled,
    /// The last events are missing, so many of them.
    WithoutLast(usize),
    /// The blank line at the end is missing.
    WithoutLastBlankLine,
    /// Every byte is sent alone.
    InBytes,
    /// All of it is sent as gzip.
    Gzip,
}

impl Damage {
    pub(super) fn done_to(&self, mut frames: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        match self {
            Self::Begins(bytes) => frames.insert(0, bytes.clone()),
            Self::Between(bytes) => {
                frames = frames
                    .into_iter()
                    .flat_map(|frame| [bytes.clone(), frame])
                    .collect()
            }
            Self::Replaced(from, to) => {
                frames = frames
                    .iter()
                    .map(|frame| replaced(frame, from, to))
                    .collect()
            }
            Self::LineEndings(ending) => {
                let unix = |frame: &Vec<u8>| {
                    replaced(&replaced(frame, b"\r\n", b"\n"), b"\n", ending.as_bytes())
                };
                frames = frames.iter().map(unix).collect();
            }
            Self::Doubled => {
                frames = frames
                    .into_iter()
                    .flat_map(|frame| [frame.clone(), frame])
                    .collect()
            }
            Self::WithoutLast(count) => frames.truncate(frames.len().saturating_sub(*count)),
            Self::WithoutLastBlankLine => {
                if let Some(last) = frames.last_mut() {
                    let end = last
                        .iter()
                        .rposition(|byte| !matches!(byte, b'\r' | b'\n'))
                        .map_or(0, |at| at + 1);
                    last.truncate(end);
                }
            }
            Self::InBytes => frames = frames.concat().into_iter().map(|byte| vec![byte]).collect(),
            Self::Gzip => frames = vec![gzip(&frames.concat())],
        }
        frames
    }
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut done = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        done.extend_from_slice(&rest[..at]);
        done.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    done.extend_from_slice(rest);
    done
}

/// RFC 1952 around one block of RFC 1951 with the fixed codes and no repetitions: small savings,
/// but nothing of the text to be seen.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let (mut pending, mut held) = (0u32, 0u32);
    // Codes go out from their highest bit on, everything else from its lowest: `011` is the last
    // block, with fixed codes.
    let mut put = |bits: u32, count: u32| {
        pending |= bits << held;
        held += count;
        while held >= 8 {
            packed.push(pending.to_le_bytes()[0]);
            pending >>= 8;
            held -= 8;
        }
    };
    put(0b011, 3);
    for byte in bytes {
        let (code, count) = if *byte < 144 {
            (0x30 + u32::from(*byte), 8)
        } else {
            (0x100 + u32::from(*byte), 9)
        };
        put(code.reverse_bits() >> (32 - count), count);
    }
    // The end of the block, and what fills the last byte.
    put(0, 7);
    put(0, 7);
    let crc = !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            }
        })
    });
    packed.extend(crc.to_le_bytes());
    packed.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    packed
}
