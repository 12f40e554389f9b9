//! Compares texts by their words alone. It says nothing about meaning: texts can say the same in
//! different words, and the opposite in nearly the same words.

use std::collections::BTreeSet;

use crate::consultation::reading::words::TABLES;
use crate::domain::answer::artifact::{Independent, Revision};
use crate::text::clean::is_unspaced;

/// Characters around a word that do not change its meaning. A character inside a word does: `1.5`
/// is not `15`, and `C++` is not `C`.
const AROUND_A_WORD: [char; 24] = [
    '.', ',', ';', ':', '!', '?', '\'', '"', '(', ')', '[', ']', '{', '}', '*', '_', '`', '“', '”',
    '„', '‘', '’', '…', '|',
];

const FEWEST: usize = 2;

/// Ignores white space, capital letters and the punctuation around words.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split_whitespace()
            .map(bare)
            .filter(|word| !word.is_empty())
            .collect()
    };
    words(one) == words(other)
}

/// Returns whether both positions are the same text and need no comparison by a model.
pub(crate) fn is_unchanged(held: &Independent, revision: &Revision) -> bool {
    is_same(&held.position, &revision.revised_position)
}

/// `None` if there are too few, or if the script does not separate words.
#[expect(clippy::cast_precision_loss, reason = "a text has few words")]
pub(crate) fn share(wanted: &str, text: &str) -> Option<f64> {
    let (wanted, there) = (matter(wanted), matter(text));
    let is_measurable = wanted.len() >= FEWEST && !there.is_empty();
    let is_apart =
        |words: &BTreeSet<String>| words.iter().all(|word| !word.chars().any(is_unspaced));
    if !is_measurable || !is_apart(&wanted) || !is_apart(&there) {
        return None;
    }
    Some(wanted.intersection(&there).count() as f64 / wanted.len() as f64)
}

pub(crate) fn negates(text: &str) -> bool {
    words(text).any(|word| TABLES.negations.has(&word) || word.ends_with("n't"))
}

/// Each once, without a plural `s`.
fn matter(text: &str) -> BTreeSet<String> {
    let is_matter =
        |word: &String| word.chars().any(char::is_alphanumeric) && !TABLES.stop_words.has(word);
    let is_long =
        |word: &String| word.chars().count() > 3 || word.chars().any(|c| c.is_ascii_digit());
    let singular = |word: String| {
        word.strip_suffix('s')
            .map(ToOwned::to_owned)
            .unwrap_or(word)
    };
    words(text)
        .filter(is_matter)
        .filter(is_long)
        .map(singular)
        .collect()
}

/// Runs of letters, digits and characters that may occur inside a word, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let within = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '+' | '#' | '.');
    text.split(move |c: char| !within(c))
        .map(bare)
        .filter(|word| !word.is_empty())
}

/// In lower case, without the characters around it.
fn bare(word: &str) -> String {
    word.trim_matches(AROUND_A_WORD)
        .to_lowercase()
        .replace('’', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_differ_by_words_but_not_by_form() {
        for (one, other) in [
            ("Use OAuth.", "use  OAuth"),
            ("**Use** OAuth, then JWT!", "Use OAuth then JWT"),
            ("Don't.", "don’t"),
            ("", " ."),
        ] {
            assert!(is_same(one, other), "{one} / {other}");
        }
        for (one, other) in [
            ("Use OAuth", "Use OAuth now"),
            ("Use C", "Use C++"),
            ("1.5 s", "15 s"),
            ("Do it", "Do not do it"),
            ("x - y", "x y"),
            ("-5", "5"),
            ("Use A, not B", "Use B, not A"),
        ] {
            assert!(!is_same(one, other), "{one} / {other}");
        }
    }

    #[test]
    fn the_share_counts_content_words() {
        assert_eq!(
            share(
                "Tokens must be short-lived.",
                "Use short lived tokens, and rotate them."
            ),
            Some(1.0)
        );
        assert_eq!(
            share("Tokens must be short-lived.", "Every token expires."),
            Some(1.0 / 3.0)
        );
        assert_eq!(share("Rotate signing keys", "Use passwords"), Some(0.0));
        assert_eq!(
            share("Use TLS 1.3 everywhere", "TLS 1.3 everywhere"),
            Some(1.0)
        );
    }

    #[test]
    fn an_unmeasurable_share_is_unknown() {
        for (wanted, text) in [
            ("", "Use OAuth."),
            ("Do it.", "Do it at once."),
            ("Rotate signing keys", ""),
            ("短期令牌，必须轮换，不得共享", "轮换短期令牌，不得共享"),
        ] {
            assert_eq!(share(wanted, text), None, "{wanted} / {text}");
        }
    }

    #[test]
    fn negations_are_recognised() {
        for text in [
            "Do not.",
            "Don't use it",
            "don’t",
            "Never",
            "Without a key",
            "Avoid JWT",
            "Nicht ohne Grund",
        ] {
            assert!(negates(text), "{text}");
        }
        for text in ["Use it", "Notice it", "Know the nonce", "knot"] {
            assert!(!negates(text), "{text}");
        }
    }
}
