//! Words, numbers and marks of a sentence.

use super::message::PLACEHOLDER;

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

/// Splits a sentence, in lower case with straight apostrophes, into its tokens.
pub fn tokens<'a>(sentence: &'a str, tokens: &mut Vec<Token<'a>>) {
    tokens.clear();
    let mut letters = sentence.char_indices().peekable();
    while let Some((start, first)) = letters.next() {
        let kind = match first {
            first if is_word(first) => {
                let mut end = start + first.len_utf8();
                let mut is_number = first.is_ascii_digit();
                while let Some(&(at, c)) = letters.peek() {
                    let next = sentence
                        .get(at + c.len_utf8()..)
                        .and_then(|rest| rest.chars().next());
                    let is_inner = match c {
                        '\'' => !is_number && next.is_some_and(char::is_alphanumeric),
                        '.' if !is_number => next.is_some_and(char::is_alphanumeric),
                        '.' | ',' => is_number && next.is_some_and(|next| next.is_ascii_digit()),
                        c => is_word(c),
                    };
                    if !is_inner {
                        break;
                    }
                    is_number &= c.is_ascii_digit() || matches!(c, '.' | ',');
                    end = at + c.len_utf8();
                    letters.next();
                }
                if is_number && letters.next_if(|(_, c)| *c == '%').is_some() {
                    end += 1;
                }
                let text = sentence.get(start..end).unwrap_or_default();
                let kind = if is_number {
                    TokenKind::Number
                } else {
                    TokenKind::Word
                };
                tokens.push(Token { text, kind });
                continue;
            }
            PLACEHOLDER => TokenKind::Placeholder,
            c if c.is_whitespace() => continue,
            '-' | '‐' | '‑' => {
                let before = sentence
                    .get(..start)
                    .and_then(|before| before.chars().next_back());
                let after = letters.peek().map(|(_, next)| *next);
                if before.is_some_and(char::is_alphanumeric)
                    && after.is_some_and(char::is_alphanumeric)
                {
                    continue;
                }
                TokenKind::Mark('-')
            }
            c => TokenKind::Mark(c),
        };
        let text = sentence
            .get(start..start + first.len_utf8())
            .unwrap_or_default();
        tokens.push(Token { text, kind });
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sentence: &str) -> Vec<&str> {
        let mut list = Vec::new();
        tokens(sentence, &mut list);
        list.into_iter().map(|token| token.text).collect()
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
