//! How alike two texts are by their words alone. This says nothing of what they mean: two texts can
//! say the same in other words, and the opposite in nearly the same ones.

use std::collections::BTreeSet;

use crate::domain::artifact::{Independent, Revision};

/// Signs around a word that do not change what it says. A sign inside a word does: `1.5` is not
/// `15`, and `C++` is not `C`.
const AROUND_A_WORD: [char; 24] = [
    '.', ',', ';', ':', '!', '?', '\'', '"', '(', ')', '[', ']', '{', '}', '*', '_', '`', '“', '”',
    '„', '‘', '’', '…', '|',
];

/// Longer words that carry a sentence and nothing of its matter. Words of up to three letters are
/// left out without a list.
const STOP_WORDS: [&str; 41] = [
    "about", "also", "been", "both", "could", "does", "done", "each", "from", "have", "having",
    "here", "into", "just", "more", "most", "must", "only", "other", "over", "should", "some",
    "such", "than", "that", "their", "them", "then", "there", "these", "they", "this", "those",
    "very", "were", "what", "when", "which", "will", "with", "would",
];

/// Words that turn a sentence round, in English and in some of the languages that questions are
/// also asked in.
const NEGATIONS: [&str; 40] = [
    "not",
    "no",
    "never",
    "none",
    "neither",
    "nor",
    "cannot",
    "without",
    "avoid",
    "avoids",
    "avoiding",
    "against",
    "reject",
    "refuse",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "nie",
    "ohne",
    "gegen",
    "vermeiden",
    "pas",
    "jamais",
    "sans",
    "contre",
    "éviter",
    "nunca",
    "sin",
    "contra",
    "evitar",
    "não",
    "nem",
    "sem",
    "non",
    "senza",
    "mai",
    "niet",
    "geen",
    "zonder",
];

/// Fewer words than this say too little about a text to be measured by.
const FEWEST: usize = 2;

/// Whether two texts are the same but for white space, capital letters and the punctuation around
/// words.
pub(in crate::consultation) fn is_same(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split_whitespace()
            .map(bare)
            .filter(|word| !word.is_empty())
            .collect()
    };
    words(one) == words(other)
}

/// Whether both positions are the same text and need no comparison by a model.
pub(in crate::consultation) fn is_unchanged(held: &Independent, revision: &Revision) -> bool {
    is_same(&held.position, &revision.revised_position)
}

/// The share of the words of matter in `wanted` that are also in `text`. `None` where there are too
/// few to measure by, or where words are not separated.
#[expect(clippy::cast_precision_loss, reason = "a text has few words")]
pub(in crate::consultation) fn share(wanted: &str, text: &str) -> Option<f64> {
    let (wanted, there) = (matter(wanted), matter(text));
    let is_measurable = wanted.len() >= FEWEST && !there.is_empty();
    let is_apart = |words: &BTreeSet<String>| words.iter().all(|word| !word.chars().any(runs_on));
    if !is_measurable || !is_apart(&wanted) || !is_apart(&there) {
        return None;
    }
    Some(wanted.intersection(&there).count() as f64 / wanted.len() as f64)
}

/// Whether a text says what is not, or not to be done, by the presence of such a word.
pub(in crate::consultation) fn negates(text: &str) -> bool {
    words(text).any(|word| NEGATIONS.contains(&word.as_str()) || word.ends_with("n't"))
}

/// The words of matter, each once; without the `s` of a plural, so that one of many is the same.
fn matter(text: &str) -> BTreeSet<String> {
    let is_matter = |word: &String| {
        word.chars().any(char::is_alphanumeric) && !STOP_WORDS.contains(&word.as_str())
    };
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

/// Runs of letters, digits and what may stand inside a word, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let within = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '+' | '#' | '.');
    text.split(move |c: char| !within(c))
        .map(bare)
        .filter(|word| !word.is_empty())
}

/// A word in lower case, without what stands around it.
fn bare(word: &str) -> String {
    word.trim_matches(AROUND_A_WORD)
        .to_lowercase()
        .replace('’', "'")
}

/// Letters of scripts that write words without anything between them.
fn runs_on(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_is_no_difference_and_any_other_word_is_one() {
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
    fn the_share_is_that_of_the_words_of_matter() {
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
    fn a_share_that_words_cannot_show_is_unknown() {
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
    fn a_sentence_is_turned_round_by_a_word() {
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
