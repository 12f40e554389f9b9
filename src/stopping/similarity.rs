//! How much two texts repeat each other, word for word.
//!
//! Measured is the resemblance of their word trigrams (Broder 1997: what both have, as a share of what either has). It sees copies and
//! near copies, and nothing of what texts mean: two that say the same in words of their own do not resemble each other.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::evaluation::Value;

/// The resemblance of the two texts that resemble each other least, from 0 to 1; `None` with fewer than two texts.
pub fn least_resemblance<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Value> {
    let texts: Vec<_> = texts.into_iter().map(trigrams).collect();
    let pairs = texts.iter().enumerate().flat_map(|(at, one)| texts.iter().skip(at + 1).map(move |other| resemblance(one, other)));
    pairs.min_by(|one, other| one.compared(*other).unwrap_or(Ordering::Equal))
}

type Trigrams = BTreeSet<Vec<String>>;

fn resemblance(one: &Trigrams, other: &Trigrams) -> Value {
    // Texts without words have nothing in common.
    Value::share(one.intersection(other).count(), one.union(other).count().max(1))
}

/// Every three words that follow each other; a text of fewer words is one piece.
fn trigrams(text: &str) -> Trigrams {
    let words = words(text);
    words.windows(words.len().clamp(1, 3)).map(<[String]>::to_vec).collect()
}

/// The words in lower case, without punctuation.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}
