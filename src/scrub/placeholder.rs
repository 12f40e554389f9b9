//! Placeholders: their names, their numbers, and where a text already has some.

use std::collections::{BTreeMap, HashMap};

use crate::text::byte_pattern::BytePattern;

/// Kinds that are part of an address, which shows what was masked: `user:[REDACTED]@host`.
const UNNAMED: [&str; 2] = ["database_password", "url_password"];

/// A placeholder of this program, numbered or not.
static PLACEHOLDER: BytePattern = BytePattern::new(r"\[REDACTED(?:_[A-Z0-9_]+)?\]");

/// Returns the name of the placeholder of a kind: `API_KEY`; empty for passwords in addresses.
pub(super) fn label(kind: &str) -> String {
    if UNNAMED.contains(&kind) {
        return String::new();
    }
    kind.to_ascii_uppercase()
}

/// In order.
pub(super) fn places(text: &str) -> Vec<(usize, usize)> {
    let regex = PLACEHOLDER.regex().into_iter();
    let found = regex.flat_map(|regex| regex.find_iter(text.as_bytes()));
    found.map(|found| (found.start(), found.end())).collect()
}

/// The numbers of the secrets of a batch. It lives no longer than the batch.
#[derive(Default)]
pub(super) struct Numbering<'a> {
    numbers: HashMap<(String, &'a str), usize>,
    /// The secrets of each label, those of earlier batches included.
    distinct: BTreeMap<String, usize>,
}

impl<'a> Numbering<'a> {
    /// Sets the numbers aside that a text has from an earlier batch, such as the answer that a
    /// question follows up: another secret must not get the same placeholder.
    pub(super) fn reserve(&mut self, text: &str) {
        for (start, end) in places(text) {
            let placeholder = text.get(start..end).unwrap_or_default();
            let (label, number) = parts(placeholder);
            let distinct = self.distinct.entry(label.to_owned()).or_default();
            *distinct = number.max(*distinct);
        }
    }

    /// Gives a secret the next number of its label, unless it has one.
    pub(super) fn add(&mut self, label: &str, secret: &'a str) {
        let distinct = self.distinct.entry(label.to_owned()).or_default();
        let number = self.numbers.entry((label.to_owned(), secret));
        number.or_insert_with(|| {
            *distinct += 1;
            *distinct
        });
    }

    /// Numbered if its label has several secrets.
    pub(super) fn placeholder(&self, label: &str, secret: &'a str) -> String {
        let several = self.distinct.get(label).is_some_and(|count| *count > 1);
        let number = self.numbers.get(&(label.to_owned(), secret));
        placeholder(label, number.copied().filter(|_| several))
    }
}

/// A placeholder without a number is the first.
fn parts(placeholder: &str) -> (&str, usize) {
    let inner = placeholder.strip_prefix("[REDACTED").unwrap_or_default();
    let inner = inner.strip_suffix(']').unwrap_or_default();
    let numbered = inner.rsplit_once('_').and_then(|(label, number)| {
        let is_number = number.len() < 6 && !number.starts_with(['0', '+']);
        let number = number.parse().ok().filter(|_| is_number)?;
        Some((label, number))
    });
    let (label, number) = numbered.unwrap_or((inner, 1));
    (label.strip_prefix('_').unwrap_or(label), number)
}

/// Returns the placeholder of a label, with its number where there is one.
pub(super) fn placeholder(label: &str, number: Option<usize>) -> String {
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
    fn placeholders_of_earlier_batches_keep_their_numbers() {
        let numbered = |text: &str, label: &str| {
            let mut numbering = Numbering::default();
            numbering.reserve(text);
            numbering.add(label, "new");
            numbering.placeholder(label, "new")
        };
        let text = "[REDACTED_API_KEY] and [REDACTED_AWS_KEY_3], [REDACTED_AWS_KEY_1]";
        assert_eq!(numbered(text, "API_KEY"), "[REDACTED_API_KEY_2]");
        assert_eq!(numbered(text, "AWS_KEY"), "[REDACTED_AWS_KEY_4]");
        assert_eq!(numbered(text, "TOKEN"), "[REDACTED_TOKEN]");
        assert_eq!(numbered("a:[REDACTED]@b", ""), "[REDACTED_2]");
        assert_eq!(numbered("a:[REDACTED_2]@b", ""), "[REDACTED_3]");
    }

    #[test]
    fn placeholders_are_recognized() {
        let text = "a [REDACTED] b [REDACTED_AWS_KEY_12] [redacted] [REDACTED_]";
        assert_eq!(places(text).len(), 2);
    }
}
