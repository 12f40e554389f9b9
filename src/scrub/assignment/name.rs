//! Finds the name around a keyword, and judges the name of a variable, field, flag or key that has
//! a keyword such as `password` in it.

use crate::scrub::place::KeywordPlace;
use crate::scrub::value::words::{WordSet, words};

/// How sure a name is to hold a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameStrength {
    /// `db_password`, `apiKey`, `TOKEN_PROD`.
    Sure,
    /// Other words follow the keyword: `token_for_ci`.
    Unsure,
}

/// Words that may follow the keyword in the name of a secret.
static QUALIFIERS: WordSet = WordSet::new("qualifiers");

/// Words that make the name one of something else, wherever they follow the keyword.
static OTHER_THINGS: WordSet = WordSet::new("other_things");

/// Words before the keyword that make the name one of something else.
static OTHER_OWNERS: WordSet = WordSet::new("other_owners");

/// Keywords that need no separator before them: `PGPASSWORD`.
static GLUED: WordSet = WordSet::new("glued");

/// Keywords that are words of other things too, such as the `pass` of a render pipeline.
pub(super) static AMBIGUOUS: WordSet = WordSet::new("ambiguous");

/// Words that may stand before an ambiguous keyword.
static ACCOUNTS: WordSet = WordSet::new("accounts");

/// Words before `key` that make it one of something else than a secret.
pub(super) static OTHER_KEYS: WordSet = WordSet::new("other_keys");

/// Words before `key` behind which digits of hexadecimal numbers are a secret too.
pub(super) static VENDORS: WordSet = WordSet::new("vendors");

/// Returns whether a name has a word of a set.
pub(super) fn has_word(name: &[u8], set: &WordSet) -> bool {
    words(name).any(|word| set.contains(word))
}

/// Judges a name by the words around its keyword, which stands at `start..end` of it.
pub(super) fn judge(name: &[u8], start: usize, end: usize) -> Option<NameStrength> {
    let (before, after) = (name.get(..start)?, name.get(end..)?);
    let keyword = name.get(start..end)?;
    let (after, is_plural) = match after.split_first() {
        Some((s @ (b's' | b'S'), rest)) if ends_word(&[*s], rest) => (rest, true),
        _ => (after, false),
    };
    if !begins_word(before, keyword) && !GLUED.contains(keyword)
        || AMBIGUOUS.contains(keyword) && !words(before).all(|word| ACCOUNTS.contains(word))
        || !ends_word(keyword, after)
        || words(before).any(|word| OTHER_OWNERS.contains(word))
        || words(after).any(|word| OTHER_THINGS.contains(word))
    {
        return None;
    }
    let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let is_sure =
        !is_plural && words(after).all(|word| is_number(word) || QUALIFIERS.contains(word));
    Some(if is_sure {
        NameStrength::Sure
    } else {
        NameStrength::Unsure
    })
}

fn begins_word(before: &[u8], keyword: &[u8]) -> bool {
    let Some(last) = before.last() else {
        return true;
    };
    let first_is_upper = keyword.first().is_some_and(u8::is_ascii_uppercase);
    let second_is_lower = keyword.get(1).is_some_and(u8::is_ascii_lowercase);
    !last.is_ascii_alphabetic()
        || (first_is_upper && (last.is_ascii_lowercase() || second_is_lower))
}

fn ends_word(keyword: &[u8], after: &[u8]) -> bool {
    let Some(next) = after.first() else {
        return true;
    };
    let last_is_lower = keyword.last().is_some_and(u8::is_ascii_lowercase);
    !next.is_ascii_alphabetic() || (last_is_lower && next.is_ascii_uppercase())
}

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

    pub(super) fn text(self, text: &[u8]) -> &[u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// Returns whether the name has no lowercase letters, as variables of the environment.
    pub(super) fn is_shouted(self, text: &[u8]) -> bool {
        !self.text(text).iter().any(u8::is_ascii_lowercase)
    }

    /// Returns whether the name is part of an address or of a path with colons:
    /// `https://token:…@host`, `arn:aws:secretsmanager:…:secret:name`.
    pub(super) fn is_in_address(self, text: &[u8]) -> bool {
        let before = text.get(..self.start).unwrap_or_default();
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b";}>".contains(&byte);
        let is_path = matches!(before, [.., byte, b':'] if is_part(*byte))
            && text.get(self.end) == Some(&b':')
            && text
                .get(self.end + 1)
                .is_some_and(|byte| !byte.is_ascii_whitespace());
        before.ends_with(b"://") || before.ends_with(b"checksum/") || is_path
    }
}
