//! Words, numbers and marks of a sentence.

use std::ops::Range;

use regex::Captures;

use crate::text::pattern::Pattern;

/// A word, a number or a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    pub kind: TokenKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters, digits and `_`, with apostrophes and points inside. A hyphen divides words: `follow-up` is two.
    Word,
    /// Digits, with points and commas inside, and a percent sign.
    Number,
    Mark(char),
    /// Inline code or quoted words.
    Placeholder,
}

/// Returns whether a text has one of these words, which are in lower case with straight apostrophes.
pub fn has_word(text: &str, words: &[impl AsRef<str>]) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .any(|word| words.iter().any(|known| known.as_ref() == word))
}

/// The kinds of tokens by the group that matches: a number, a word, inline code, a mark.
static TOKEN: Pattern = Pattern::new(r"(\d+(?:[.,]\d+)*\b%?)|(\w+(?:['.]\w+)*)|(\u{fffc})|(\S)");

/// Splits a sentence, in lower case with straight apostrophes, into its tokens.
pub fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (token, range) in TOKEN.all(sentence).filter_map(|found| group(&found)) {
        let text = sentence.get(range.clone()).unwrap_or_default();
        let mark = text.chars().next().unwrap_or_default();
        let kind = match token {
            1 => TokenKind::Number,
            2 => TokenKind::Word,
            3 => TokenKind::Placeholder,
            _ if matches!(mark, '-' | '‐' | '‑') => {
                let before = sentence.get(..range.start).unwrap_or_default();
                let after = sentence.get(range.end..).unwrap_or_default();
                if before.ends_with(char::is_alphanumeric)
                    && after.starts_with(char::is_alphanumeric)
                {
                    continue;
                }
                TokenKind::Mark('-')
            }
            _ => TokenKind::Mark(mark),
        };
        tokens.push(Token { text, kind });
    }
    tokens
}

/// Returns the number of the group that matched, and its range.
fn group(found: &Captures<'_>) -> Option<(usize, Range<usize>)> {
    (1..found.len()).find_map(|number| Some((number, found.get(number)?.range())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sentence: &str) -> Vec<&str> {
        tokens(sentence)
            .into_iter()
            .map(|token| token.text)
            .collect()
    }

    #[test]
    fn words_numbers_and_marks_are_tokens() {
        for (sentence, expected) in [
            (
                "it isn't done, yet.",
                vec!["it", "isn't", "done", ",", "yet", "."],
            ),
            (
                "a follow-up - later",
                vec!["a", "follow", "up", "-", "later"],
            ),
            (
                "4/16 tasks at 0.85, 90%",
                vec!["4", "/", "16", "tasks", "at", "0.85", ",", "90%"],
            ),
            ("exit_signal: true", vec!["exit_signal", ":", "true"]),
            (
                "l'implémentation est terminée",
                vec!["l'implémentation", "est", "terminée"],
            ),
            ("run \u{fffc} now", vec!["run", "\u{fffc}", "now"]),
            (
                "in fix_plan.md. next",
                vec!["in", "fix_plan.md", ".", "next"],
            ),
            ("2nd 1,234", vec!["2nd", "1,234"]),
            ("'quoted'", vec!["'", "quoted", "'"]),
        ] {
            assert_eq!(texts(sentence), expected, "{sentence}");
        }
    }
}
