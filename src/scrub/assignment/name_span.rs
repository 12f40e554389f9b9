//! Finds the name around a keyword.

use crate::scrub::place::KeywordPlace;

/// Names are no longer than this on either side of their keyword.
const LONGEST_SIDE: usize = 64;

/// Where a name is.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameSpan {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl NameSpan {
    pub(super) fn around(text: &[u8], place: KeywordPlace<'_>) -> Self {
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.$".contains(byte);
        let is_tail = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let before = text.get(..place.start).unwrap_or_default();
        let left = before.iter().rev().take(LONGEST_SIDE).take_while(is_name);
        let after = text.get(place.end..).unwrap_or_default();
        let mut right = after.iter().take(LONGEST_SIDE).take_while(is_tail).count();
        if after.get(..right).is_some_and(|tail| tail.ends_with(b"-")) {
            // `token->value`
            right -= 1;
        }
        Self {
            start: place.start - left.count(),
            end: place.end + right,
        }
    }

    /// Returns whether the name has no lowercase letters, as variables of the environment.
    pub(super) fn is_shouted(self, text: &[u8]) -> bool {
        let name = text.get(self.start..self.end).unwrap_or_default();
        !name.iter().any(u8::is_ascii_lowercase)
    }

    /// Returns whether the name is part of an address or of a path with colons:
    /// `https://token:…@host`, `arn:aws:secretsmanager:…:secret:name`.
    pub(super) fn is_in_address(self, text: &[u8]) -> bool {
        let before = text.get(..self.start).unwrap_or_default();
        let is_path = matches!(before, [.., byte, b':'] if byte.is_ascii_alphanumeric())
            && text.get(self.end) == Some(&b':')
            && text
                .get(self.end + 1)
                .is_some_and(|byte| !byte.is_ascii_whitespace());
        before.ends_with(b"://") || before.ends_with(b"checksum/") || is_path
    }
}
