//! Placeholders: their names, their numbers, and where a text already has some.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use regex::bytes::Regex;

/// Kinds that are part of an address, which shows what was masked: `user:[REDACTED]@host`.
const UNNAMED: [&str; 2] = ["database_password", "url_password"];

/// A placeholder of this program, numbered or not.
static PLACEHOLDER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)\[REDACTED(?:_[A-Z0-9_]+)?\]").ok());

/// Returns the name of the placeholder of a kind: `API_KEY`; empty for passwords in addresses.
pub(super) fn label(kind: &str) -> String {
    if UNNAMED.contains(&kind) {
        return String::new();
    }
    kind.to_ascii_uppercase()
}

/// Returns where a text has placeholders, in order.
pub(super) fn places(text: &str) -> Vec<(usize, usize)> {
    let Some(regex) = &*PLACEHOLDER else {
        return Vec::new();
    };
    regex
        .find_iter(text.as_bytes())
        .map(|found| (found.start(), found.end()))
        .collect()
}

/// Returns the placeholder without a number.
pub(super) fn unnumbered(label: &str) -> String {
    placeholder(label, None)
}

/// The numbers of the secrets of a batch. It lives no longer than the batch.
#[derive(Default)]
pub(super) struct Numbering<'a> {
    numbers: HashMap<(String, &'a str), usize>,
    distinct: BTreeMap<String, usize>,
}

impl<'a> Numbering<'a> {
    /// Gives a secret the next number of its label, unless it has one.
    pub(super) fn add(&mut self, label: &str, secret: &'a str) {
        let distinct = self.distinct.entry(label.to_owned()).or_default();
        let number = self.numbers.entry((label.to_owned(), secret));
        number.or_insert_with(|| {
            *distinct += 1;
            *distinct
        });
    }

    /// Returns the placeholder of a secret: numbered if its label has several secrets.
    pub(super) fn placeholder(&self, label: &str, secret: &'a str) -> String {
        let several = self.distinct.get(label).is_some_and(|count| *count > 1);
        let number = self.numbers.get(&(label.to_owned(), secret));
        placeholder(label, number.copied().filter(|_| several))
    }
}

fn placeholder(label: &str, number: Option<usize>) -> String {
    let separator = if label.is_empty() { "" } else { "_" };
    match number {
        None => format!("[REDACTED{separator}{label}]"),
        Some(number) => format!("[REDACTED{separator}{label}_{number}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_several_secrets_of_a_kind_are_numbered() {
        let mut numbering = Numbering::default();
        numbering.add("API_KEY", "one");
        numbering.add("API_KEY", "one");
        numbering.add("", "first");
        numbering.add("", "second");
        assert_eq!(
            numbering.placeholder("API_KEY", "one"),
            "[REDACTED_API_KEY]"
        );
        assert_eq!(numbering.placeholder("", "second"), "[REDACTED_2]");
        numbering.add("API_KEY", "two");
        assert_eq!(
            numbering.placeholder("API_KEY", "one"),
            "[REDACTED_API_KEY_1]"
        );
        assert_eq!(
            numbering.placeholder("API_KEY", "two"),
            "[REDACTED_API_KEY_2]"
        );
    }

    #[test]
    fn placeholders_are_recognized() {
        let text = "a [REDACTED] b [REDACTED_AWS_KEY_12] [redacted] [REDACTED_]";
        assert_eq!(places(text).len(), 2);
    }
}
