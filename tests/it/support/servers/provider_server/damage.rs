//! Damage to the events of a valid answer before they are sent.

/// One change to all events. Several changes apply in the order in which they are given.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    /// Inserts these bytes before all events.
    Begins(Vec<u8>),
    /// Inserts these bytes before every event.
    Between(Vec<u8>),
    /// Replaces the first bytes with the second.
    Replaced(Vec<u8>, Vec<u8>),
    /// Ends every line with `\n`, `\r\n` or `\r`.
    LineEndings(&'static str),
    /// Sends every event twice.
    Doubled,
    /// Omits this many events at the end.
    WithoutLast(usize),
    /// Omits the blank line at the end.
    WithoutLastBlankLine,
    /// Sends every byte alone.
    InBytes,
    /// Compresses everything with gzip.
    Gzip,
}

impl Damage {
    pub(super) fn apply(&self, mut frames: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        match self {
            Self::Begins(bytes) => frames.insert(0, bytes.clone()),
            Self::Between(bytes) => {
                frames = frames
                    .into_iter()
                    .flat_map(|frame| [bytes.clone(), frame])
                    .collect();
            }
            Self::Replaced(from, to) => {
                frames = frames
                    .iter()
                    .map(|frame| replaced(frame, from, to))
                    .collect();
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
                    .collect();
            }
            Self::WithoutLast(count) => frames.truncate(frames.len().saturating_sub(*count)),
            Self::WithoutLastBlankLine => {
                if let Some(last) = frames.last_mut() {
                    let end = last
                        .iter()
                        .rposition(|byte| !matches!(byte, b'\r' | b'\n'))
                        .map_or(0, |index| index + 1);
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
    let mut result = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(index) = rest.windows(from.len()).position(|window| window == from) {
        result.extend_from_slice(&rest[..index]);
        result.extend_from_slice(to);
        rest = &rest[index + from.len()..];
    }
    result.extend_from_slice(rest);
    result
}

/// Compresses with one block of fixed codes and no repetitions (RFC 1951, RFC 1952). That saves
/// little, but no part of the text stays readable.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let (mut pending, mut pending_bits) = (0u32, 0u32);
    // Codes are written from their highest bit, everything else from its lowest. `011` starts the
    // last block, with fixed codes.
    let mut put = |bits: u32, count: u32| {
        pending |= bits << pending_bits;
        pending_bits += count;
        while pending_bits >= 8 {
            packed.push(pending.to_le_bytes()[0]);
            pending >>= 8;
            pending_bits -= 8;
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
    // The end of the block, and padding for the last byte.
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
