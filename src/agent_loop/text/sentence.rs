//! Sentences, in any language that ends them by a mark, and their words, numbers and marks.

use super::TABLES;
use super::message::PLACEHOLDER;
use crate::text::pattern::Pattern;

/// A sentence of a block's prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// The words, with the marks at the end.
    pub text: &'a str,
    pub is_question: bool,
}

/// A line of this length or more was broken because it was full: the sentence goes on.
const FULL_LINE: usize = 60;

/// Where a sentence may end: at its marks, or at the end of a line; with what closes behind it.
static END: Pattern = Pattern::new(
    r#"(?:(?P<wide>[。！？｡])|(?P<marks>[.!?…؟]+)|\n)(?P<closing>[.!?…。！？؟｡)\]"'”’»」』）*_]*)"#,
);

pub fn sentences(prose: &str) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let (mut start, mut line_start) = (0, 0);
    for found in END.all(prose) {
        let Some(end) = found.get(0) else { continue };
        let after = prose.get(end.end()..).unwrap_or_default().chars().next();
        let before = |from: usize| prose.get(from..end.start()).unwrap_or_default();
        let ends = if found.name("wide").is_some() {
            true
        } else if let Some(marks) = found.name("marks") {
            let closes = found.name("closing").is_some_and(|it| !it.is_empty());
            (closes || after.is_none_or(char::is_whitespace))
                && !(marks.as_str() == "." && is_abbreviation(before(start)))
        } else {
            let line = before(line_start);
            line_start = end.start() + 1;
            let next = prose.get(line_start..).unwrap_or_default().chars().next();
            ends_line(line, next)
        };
        if ends {
            sentences.extend(Sentence::new(prose.get(start..end.end())));
            start = end.end();
        }
    }
    sentences.extend(Sentence::new(prose.get(start..)));
    sentences
}

impl<'a> Sentence<'a> {
    /// `None` if there is no word.
    fn new(part: Option<&'a str>) -> Option<Self> {
        let text = part?.trim();
        if !text.contains(|c: char| c.is_alphanumeric() || c == PLACEHOLDER) {
            return None;
        }
        let words = text.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_end_mark(c));
        let is_question = words.ends_with(['?', '？', '؟'])
            || words.ends_with('!') && words.trim_end_matches('!').ends_with('?')
            // The particles that end a question in Japanese and Chinese.
            || words.trim_end_matches(is_end_mark).ends_with(['か', '吗', '嗎']);
        Some(Self { text, is_question })
    }
}

fn is_end_mark(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '｡')
}

/// A number at the beginning, such as `1.`, and an abbreviation end no sentence.
fn is_abbreviation(before: &str) -> bool {
    let mut words = before.rsplit(char::is_whitespace);
    let word = words.next().unwrap_or_default();
    let is_first = before.trim() == word;
    if is_first && !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()) {
        return true;
    }
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = word.to_lowercase();
    // `no.` abbreviates a number, and is a sentence of its own.
    TABLES.list("abbreviations").has(&word) && !(is_first && word == "no")
}

/// The line is not full, and the next one begins like a sentence.
fn ends_line(line: &str, next: Option<char>) -> bool {
    let is_full = line.chars().count() >= FULL_LINE;
    next.is_none_or(|next| {
        next == '\n' || !is_full && !next.is_lowercase() && !next.is_whitespace()
    })
}

/// A word, a number or a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    pub kind: TokenKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters, digits and `_`, with apostrophes and points inside; or one letter of a language
    /// without blanks. A hyphen divides words: `follow-up` is two.
    Word,
    /// Digits, with points and commas inside, and a percent sign.
    Number,
    Mark(char),
    /// Inline code or quoted words.
    Placeholder,
}

/// `words` are in lower case, with straight apostrophes.
pub fn has_word(text: &str, words: &[impl AsRef<str>]) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .any(|word| words.iter().any(|known| known.as_ref() == word))
}

/// A number, a word, inline code, a mark.
static TOKEN: Pattern = Pattern::prepared("", |_| {
    // Those of `is_unspaced`.
    let letter = r"[\u{e00}-\u{eff}\u{1000}-\u{109f}\u{1780}-\u{17ff}\u{3040}-\u{30ff}\u{3400}-\u{9fff}\u{f900}-\u{faff}\u{20000}-\u{3ffff}]";
    let word = format!(r"[\w--{letter}]+");
    format!(r"\d+(?:[.,]\d+)*\b%?|{letter}|{word}(?:['.]{word})*|\S")
});

/// `sentence` is in lower case, with straight apostrophes.
pub fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for found in TOKEN.whole(sentence) {
        let text = found.as_str();
        let in_number = |c: char| c.is_numeric() || matches!(c, '.' | ',' | '%');
        let kind = match text.chars().next().unwrap_or_default() {
            PLACEHOLDER => TokenKind::Placeholder,
            first if first.is_numeric() && text.chars().all(in_number) => TokenKind::Number,
            first if first.is_alphanumeric() || text.len() > first.len_utf8() || first == '_' => {
                TokenKind::Word
            }
            '-' | '‐' | '‑' => {
                let before = sentence.get(..found.start()).unwrap_or_default();
                let after = sentence.get(found.end()..).unwrap_or_default();
                if before.ends_with(char::is_alphanumeric)
                    && after.starts_with(char::is_alphanumeric)
                {
                    continue;
                }
                TokenKind::Mark('-')
            }
            mark => TokenKind::Mark(mark),
        };
        tokens.push(Token { text, kind });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(prose: &str) -> Vec<&str> {
        sentences(prose)
            .into_iter()
            .map(|sentence| sentence.text)
            .collect()
    }

    #[test]
    fn sentences_end_at_marks_and_short_lines() {
        for (prose, expected) in [
            (
                "One. Two! Three? Four",
                vec!["One.", "Two!", "Three?", "Four"],
            ),
            (
                "Version 1.2.3 of a.rs works.",
                vec!["Version 1.2.3 of a.rs works."],
            ),
            (
                "Use e.g. this one. Next",
                vec!["Use e.g. this one.", "Next"],
            ),
            ("1. First point. Second", vec!["1. First point.", "Second"]),
            ("Wait... what?! Ok", vec!["Wait...", "what?!", "Ok"]),
            ("(All done.) Then", vec!["(All done.)", "Then"]),
            (
                "全部完成。还有问题吗？好",
                vec!["全部完成。", "还有问题吗？", "好"],
            ),
            ("All done\nTests pass", vec!["All done", "Tests pass"]),
            ("it is not\ncomplete", vec!["it is not\ncomplete"]),
            (
                "a line of more than sixty characters, which a program has broken\nInto two",
                vec!["a line of more than sixty characters, which a program has broken\nInto two"],
            ),
            ("", vec![]),
            ("...", vec![]),
            ("All done. ✅", vec!["All done."]),
        ] {
            assert_eq!(texts(prose), expected, "{prose:?}");
        }
    }

    #[test]
    fn questions_end_with_their_mark() {
        for (prose, expected) in [
            ("Which one?", true),
            ("Which one? 🤔", true),
            ("Which one?)", true),
            ("Really?!", true),
            ("好吗？", true),
            ("どちらにしますか。", true),
            ("This one.", false),
            ("a?b", false),
        ] {
            let last = sentences(prose).pop();
            assert_eq!(
                last.is_some_and(|last| last.is_question),
                expected,
                "{prose}"
            );
        }
    }

    fn token_texts(sentence: &str) -> Vec<&str> {
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
            assert_eq!(token_texts(sentence), expected, "{sentence}");
        }
    }
}
