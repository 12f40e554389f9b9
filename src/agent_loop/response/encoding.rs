//! The encodings of outputs: UTF-8, with or without a byte order mark, and UTF-16 with one, which
//! some shells write when they redirect.

const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Turns the bytes of an output into UTF-8 as they arrive. What is not valid in UTF-8 passes as it
/// is, and is replaced when a text is made of it.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    encoding: Encoding,
    /// Bytes that wait for the next ones.
    waiting: Vec<u8>,
    units: Utf16Joiner,
}

#[derive(Clone, Copy, Debug, Default)]
enum Encoding {
    /// The mark at the beginning is not read yet.
    #[default]
    Unknown,
    Utf8,
    Utf16(fn([u8; 2]) -> u16),
}

impl Decoder {
    /// Appends the text of some bytes.
    pub(super) fn decode(&mut self, bytes: &[u8], text: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Unknown => {
                self.waiting.extend_from_slice(bytes);
                if self.waiting.len() >= 3 {
                    self.find_encoding(text);
                }
            }
            Encoding::Utf8 => text.extend_from_slice(bytes),
            Encoding::Utf16(unit) => self.decode_utf16(bytes, unit, text),
        }
    }

    /// Appends what waits for bytes that do not come.
    pub(super) fn finish(&mut self, text: &mut Vec<u8>) {
        if matches!(self.encoding, Encoding::Unknown) {
            self.find_encoding(text);
        }
        if self.units.flush().is_some() || !self.waiting.is_empty() {
            text.extend_from_slice(REPLACEMENT);
        }
    }

    fn find_encoding(&mut self, text: &mut Vec<u8>) {
        let start = std::mem::take(&mut self.waiting);
        let (encoding, rest) = match start.as_slice() {
            [0xef, 0xbb, 0xbf, rest @ ..] => (Encoding::Utf8, rest),
            [0xff, 0xfe, rest @ ..] => (Encoding::Utf16(u16::from_le_bytes), rest),
            [0xfe, 0xff, rest @ ..] => (Encoding::Utf16(u16::from_be_bytes), rest),
            rest => (Encoding::Utf8, rest),
        };
        self.encoding = encoding;
        self.decode(rest, text);
    }

    fn decode_utf16(&mut self, bytes: &[u8], unit: fn([u8; 2]) -> u16, text: &mut Vec<u8>) {
        for byte in bytes {
            let Some(first) = self.waiting.pop() else {
                self.waiting.push(*byte);
                continue;
            };
            for character in self.units.push(unit([first, *byte])) {
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
}

/// Joins units of UTF-16 to characters. Half of a surrogate pair becomes U+FFFD.
#[derive(Debug, Default)]
pub(super) struct Utf16Joiner {
    /// The first half of a pair, while the second may still come.
    high_surrogate: Option<u16>,
}

impl Utf16Joiner {
    /// Takes in a unit, and returns the characters that are complete.
    pub(super) fn push(&mut self, unit: u16) -> impl Iterator<Item = char> + use<> {
        let mut characters = [None, None];
        if let Some(high) = self.high_surrogate.take() {
            if let Some(Ok(pair)) = char::decode_utf16([high, unit]).next() {
                return [Some(pair), None].into_iter().flatten();
            }
            characters[0] = Some(char::REPLACEMENT_CHARACTER);
        }
        if (0xd800..0xdc00).contains(&unit) {
            self.high_surrogate = Some(unit);
        } else {
            let character = char::from_u32(u32::from(unit));
            characters[1] = Some(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        characters.into_iter().flatten()
    }

    /// Returns the replacement of a first half whose second half does not come.
    pub(super) fn flush(&mut self) -> Option<char> {
        let high = self.high_surrogate.take();
        high.map(|_| char::REPLACEMENT_CHARACTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> String {
        let mut decoder = Decoder::default();
        let mut text = Vec::new();
        for byte in bytes {
            decoder.decode(&[*byte], &mut text);
        }
        decoder.finish(&mut text);
        String::from_utf8(text).unwrap()
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let marked = format!("\u{feff}{text}");
        marked.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn byte_order_marks_are_removed() {
        assert_eq!(decode("\u{feff}déjà".as_bytes()), "déjà");
        assert_eq!(decode("\u{feff}".as_bytes()), "");
        assert_eq!(decode("é".as_bytes()), "é");
        assert_eq!(decode(b"a"), "a");
        assert_eq!(decode(b""), "");
    }

    #[test]
    fn utf_16_is_read_in_both_orders() {
        assert_eq!(decode(&utf16("Done 😀", u16::to_le_bytes)), "Done 😀");
        assert_eq!(decode(&utf16("Done 😀", u16::to_be_bytes)), "Done 😀");
    }

    #[test]
    fn broken_utf_16_is_replaced() {
        assert_eq!(decode(b"\xff\xfea\0b"), "a\u{fffd}");
        assert_eq!(decode(b"\xff\xfe\x3d\xd8a\0"), "\u{fffd}a");
        assert_eq!(decode(b"\xff\xfe\x3d\xd8"), "\u{fffd}");
        assert_eq!(decode(b"\xff\xfe\x3d\xd8\x3d\xd8\0\xde"), "\u{fffd}😀");
    }
}
