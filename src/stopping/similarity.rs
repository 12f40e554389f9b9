//! Measures how much texts repeat each other, word for word.
//!
//! The measure is the resemblance of their word trigrams (Broder 1997: common trigrams as a share
//! of all). It detects copies and near copies but not meaning: two texts that say the same in
//! different words do not resemble each other.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::evaluation::Value;
use crate::text::clean::is_unspaced;

/// From 0 to 1; `None` for fewer than two texts.
pub fn least_resemblance<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Value> {
    let texts: Vec<_> = texts.into_iter().map(trigrams).collect();
    let pairs = texts.iter().enumerate().flat_map(|(at, one)| {
        texts
            .iter()
            .skip(at + 1)
            .map(move |other| resemblance(one, other))
    });
    pairs.min_by(|one, other| one.compared(other).unwrap_or(Ordering::Equal))
}

type Trigrams = BTreeSet<Vec<String>>;

fn resemblance(one: &Trigrams, other: &Trigrams) -> Value {
    // Texts without words do not resemble each other.
    Value::share(
        one.intersection(other).count(),
        one.union(other).count().max(1),
    )
}

/// A text of fewer words is one piece.
fn trigrams(text: &str) -> Trigrams {
    let words = words(text);
    words
        .windows(words.len().clamp(1, 3))
        .map(<[String]>::to_vec)
        .collect()
}

/// In a script without blanks between words, each character is one.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in text.chars() {
        if !c.is_alphanumeric() || is_unspaced(c) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        if is_unspaced(c) {
            words.push(String::new());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least(texts: &[&str]) -> Option<Value> {
        least_resemblance(texts.iter().copied())
    }

    #[test]
    fn texts_are_compared_by_word_trigrams() {
        let share = |part, of| Some(Value::Share { part, of });
        // abc bcd cde against abc bcd cdx: two of four.
        assert_eq!(least(&["a b c d e", "a b c d x"]), share(2, 4));
        assert_eq!(
            least(&["A, b... (c) d!", "a b c\nd"]),
            share(2, 2),
            "case, signs and breaks do not count"
        );
        assert_eq!(least(&["a b c", "c b a"]), share(0, 2), "order does");
        assert_eq!(
            least(&["a b c a b c a b c", "a b c a b"]),
            share(3, 3),
            "and repetition does not"
        );
    }

    #[test]
    fn short_texts_are_one_trigram_and_empty_ones_resemble_nothing() {
        let share = |part, of| Some(Value::Share { part, of });
        assert_eq!(
            (least(&["Use Rust.", "use rust"]), least(&["Yes", "No"])),
            (share(1, 1), share(0, 2))
        );
        assert_eq!(
            (least(&["", "…"]), least(&["", "yes"])),
            (share(0, 1), share(0, 1))
        );
    }

    #[test]
    fn the_least_similar_pair_counts() {
        let (same, other) = ("one two three four", "one two three five");
        assert_eq!(
            least(&[same, same, other]),
            Some(Value::Share { part: 1, of: 3 })
        );
        assert_eq!(
            least(&[other, same, same]),
            Some(Value::Share { part: 1, of: 3 })
        );
        assert_eq!((least(&[same]), least(&[])), (None, None));
    }

    #[test]
    fn texts_without_spaces_are_compared_by_characters() {
        // Eight signs, the last of which differs: five trigrams in common, and one of each.
        assert_eq!(
            least(&["我们应该使用锈语", "我们应该使用锈文"]),
            Some(Value::Share { part: 5, of: 7 })
        );
        assert_eq!(
            least(&["用Rust写", "用 rust 写"]),
            Some(Value::Share { part: 1, of: 1 })
        );
    }
}
