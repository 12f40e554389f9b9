//! Reads the sources of context: files, folders, globs and standard input, as text.

pub mod error;
mod walk;
pub mod files;
pub mod stdin;

use thiserror::Error;

use crate::domain::context::SourceKind;

/// The text of one source, before it is scrubbed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    pub kind: SourceKind,
    /// A file's path as given or found, a project's folder; `stdin`.
    pub name: String,
    pub text: String,
}

/// The size of sources, or the most that all of them together may have. Exceeding it is an error; no
/// source is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceSize {
    pub files: usize,
    pub bytes: u64,
}

impl SourceSize {
    /// The limit unless another is named.
    pub const LIMIT: Self = Self {
        files: 1_000,
        bytes: 16 << 20,
    };
}

/// Rounded up to one decimal place.
fn megabytes(bytes: u64) -> String {
    let tenths = u128::from(bytes).saturating_mul(10).div_ceil(1 << 20);
    let (whole, rest) = (tenths / 10, tenths % 10);
    if rest == 0 {
        format!("{whole} MB")
    } else {
        format!("{whole}.{rest} MB")
    }
}

/// Bytes that are no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    #[error("it is binary: byte {0} is NUL")]
    Binary(usize),
    #[error("its encoding is neither UTF-8 nor UTF-16 with a byte order mark: see byte {0}")]
    Encoding(usize),
}

/// The beginning of a source that shows whether it is binary, in bytes.
pub(super) const HEAD: usize = 8_192;

/// Returns the text of a source without its byte order mark.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, DecodeError> {
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

/// Checks the beginning of a source for NUL bytes, which no text but UTF-16 has.
pub(super) fn check_head(head: &[u8]) -> Result<(), DecodeError> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Ok(());
    }
    let nul = head.iter().take(HEAD).position(|byte| *byte == 0);
    nul.map_or(Ok(()), |at| Err(DecodeError::Binary(at)))
}

fn utf8(bytes: Vec<u8>) -> Result<String, DecodeError> {
    if let Some(nul) = bytes.iter().position(|byte| *byte == 0) {
        return Err(DecodeError::Binary(nul));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| DecodeError::Encoding(error.utf8_error().valid_up_to()))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, DecodeError> {
    const MARK: usize = 2;
    let (pairs, _) = bytes.as_chunks();
    let units = pairs.iter().copied().map(unit);
    let text: String = char::decode_utf16(units.clone())
        .map_while(Result::ok)
        .collect();
    let end = MARK + 2 * text.encode_utf16().count();
    let nul = units.clone().position(|unit| unit == 0);
    match nul {
        Some(at) => Err(DecodeError::Binary(MARK + 2 * at)),
        None if end == MARK + bytes.len() => Ok(text),
        None => Err(DecodeError::Encoding(end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Result<String, DecodeError> {
        decode(bytes.to_vec())
    }

    fn utf16_of(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf_8_is_decoded_with_and_without_a_mark() {
        assert_eq!(decoded("é\r\n".as_bytes()).unwrap(), "é\r\n");
        assert_eq!(decoded("\u{feff}é".as_bytes()).unwrap(), "é");
        assert_eq!(decoded(b"").unwrap(), "");
    }

    #[test]
    fn utf_16_is_decoded_by_its_mark() {
        let text = "\u{feff}naïve 🦀\n";
        let expected = "naïve 🦀\n";
        assert_eq!(
            decoded(&utf16_of(text, u16::to_le_bytes)).unwrap(),
            expected
        );
        assert_eq!(
            decoded(&utf16_of(text, u16::to_be_bytes)).unwrap(),
            expected
        );
    }

    #[test]
    fn bytes_of_other_encodings_are_refused_with_their_place() {
        assert_eq!(decoded(b"caf\xe9"), Err(DecodeError::Encoding(3)));
        assert_eq!(decoded(b"\xff\xfea\0b"), Err(DecodeError::Encoding(4)));
        assert_eq!(decoded(b"\xff\xfea\0\0\xd8"), Err(DecodeError::Encoding(4)));
    }

    #[test]
    fn bytes_with_nul_are_binary() {
        assert_eq!(decoded(b"a\0b"), Err(DecodeError::Binary(1)));
        assert_eq!(decoded(b"\xff\xfea\0\0\0"), Err(DecodeError::Binary(4)));
        assert_eq!(check_head(b"a\0b"), Err(DecodeError::Binary(1)));
        assert_eq!(check_head(b"\xff\xfea\0"), Ok(()));
    }
}
