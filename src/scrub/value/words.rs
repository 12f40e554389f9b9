//! Words of names and values: `dbPassword`, `db_password` and `DB-PASSWORD` are `db` and
//! `password`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

use crate::text::word_list::load;

static LISTS: LazyLock<BTreeMap<String, Vec<String>>> =
    LazyLock::new(|| load(include_str!("words.toml")));

pub(in crate::scrub) fn list(name: &str) -> &'static [String] {
    let list = LISTS.get(name);
    debug_assert!(list.is_some(), "there is no list `{name}`");
    list.map_or(&[], Vec::as_slice)
}

/// The words of a list of the table.
#[derive(Debug)]
pub(in crate::scrub) struct WordSet {
    list: &'static str,
    words: OnceLock<BTreeSet<&'static [u8]>>,
}

impl WordSet {
    pub(in crate::scrub) const fn new(list: &'static str) -> Self {
        Self {
            list,
            words: OnceLock::new(),
        }
    }

    pub(in crate::scrub) fn all(&self) -> &BTreeSet<&'static [u8]> {
        let words = || list(self.list).iter().map(String::as_bytes).collect();
        self.words.get_or_init(words)
    }

    /// Returns whether the word is one of the set, which has small letters, in any case.
    pub(in crate::scrub) fn contains(&self, word: &[u8]) -> bool {
        self.all().contains(word.to_ascii_lowercase().as_slice())
    }
}

/// Runs of letters or of digits, also split where the case changes.
pub(in crate::scrub) fn words(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = name.split(|byte| !byte.is_ascii_alphanumeric());
    parts.flat_map(|mut rest| {
        std::iter::from_fn(move || {
            let (word, after) = rest.split_at_checked(first_word(rest)?)?;
            rest = after;
            Some(word)
        })
    })
}

/// Returns the length of the first word of `camelCase`.
fn first_word(text: &[u8]) -> Option<usize> {
    let first = text.first()?;
    let same = |is: fn(&u8) -> bool| text.iter().take_while(|byte| is(byte)).count();
    if first.is_ascii_digit() {
        return Some(same(u8::is_ascii_digit));
    }
    if first.is_ascii_lowercase() {
        return Some(same(u8::is_ascii_lowercase));
    }
    let upper = same(u8::is_ascii_uppercase);
    let lower = text.iter().skip(upper);
    let lower = lower.take_while(|byte| byte.is_ascii_lowercase()).count();
    Some(match (upper, lower) {
        (1, _) => 1 + lower,
        (_, 0) => upper,
        _ => upper - 1,
    })
}

/// Returns whether text is an identifier: `user_input2`.
pub(super) fn is_identifier(part: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    part.bytes().all(is_word) && !part.starts_with(|c: char| c.is_ascii_digit()) && !part.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(name: &str) -> Vec<&str> {
        let words = words(name.as_bytes());
        words
            .map(|word| std::str::from_utf8(word).unwrap())
            .collect()
    }

    #[test]
    fn names_split_at_separators_and_case() {
        assert_eq!(split("dbPassword"), ["db", "Password"]);
        assert_eq!(split("DB_PASSWORD-2"), ["DB", "PASSWORD", "2"]);
        assert_eq!(split("AWSSecretKey"), ["AWS", "Secret", "Key"]);
        assert_eq!(split("x-api-key"), ["x", "api", "key"]);
        assert_eq!(split(""), Vec::<&str>::new());
    }
}
