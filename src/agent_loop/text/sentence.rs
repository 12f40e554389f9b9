//! Sentences, in any language that ends them by a mark.

use super::message::PLACEHOLDER;

/// A sentence of a block's prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// The words, with the marks at the end.
    pub text: &'a str,
    pub is_question: bool,
}

/// A line of this length or more was broken because it was full: the sentence goes on.
const FULL_LINE: usize = 60;

/// Words that end with a full stop within a sentence.
const ABBREVIATIONS: [&str; 12] = [
    "e.g", "i.e", "etc", "vs", "cf", "approx", "no", "fig", "z.b", "d.h", "p.ej", "incl",
];

/// Splits the prose of a block into sentences.
pub fn sentences(prose: &str) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut line_start = 0;
    let mut letters = prose.char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        let ends = match c {
            '。' | '！' | '？' | '｡' => true,
            '.' | '!' | '?' | '…' | '؟' => {
                let next = letters.peek().map(|(_, next)| *next);
                let before = prose.get(start..at).unwrap_or_default();
                next.is_none_or(|next| next.is_whitespace() || closes(next))
                    && !(c == '.' && is_abbreviation(before))
            }
            '\n' => {
                let line = prose.get(line_start..at).unwrap_or_default();
                let next = letters.peek().map(|(_, next)| *next);
                line_start = at + 1;
                ends_line(line, next)
            }
            _ => false,
        };
        if !ends {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((at, mark)) =
            letters.next_if(|(_, next)| is_end_mark(*next) || closes(*next))
        {
            end = at + mark.len_utf8();
        }
        push(&mut sentences, prose.get(start..end));
        start = end;
    }
    push(&mut sentences, prose.get(start..));
    sentences
}

fn push<'a>(sentences: &mut Vec<Sentence<'a>>, text: Option<&'a str>) {
    let text = text.unwrap_or_default().trim();
    if !text.contains(|c: char| c.is_alphanumeric() || c == PLACEHOLDER) {
        return;
    }
    let words = text.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_end_mark(c));
    sentences.push(Sentence {
        text,
        is_question: words.ends_with(['?', '？', '؟'])
            || words.ends_with('!') && words.trim_end_matches('!').ends_with('?')
            // The particles that end a question in Japanese and Chinese.
            || words.trim_end_matches(is_end_mark).ends_with(['か', '吗', '嗎']),
    });
}

fn is_end_mark(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '؟' | '｡')
}

fn closes(c: char) -> bool {
    matches!(
        c,
        ')' | ']' | '"' | '\'' | '”' | '’' | '»' | '」' | '』' | '）' | '*' | '_'
    )
}

/// A number at the beginning, such as `1.`, and an abbreviation end no sentence.
fn is_abbreviation(before: &str) -> bool {
    let word = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let is_number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    if is_number && before.trim() == word {
        return true;
    }
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    ABBREVIATIONS
        .iter()
        .any(|abbreviation| word.eq_ignore_ascii_case(abbreviation))
        // `no.` abbreviates a number, and is a word of its own.
        && !(word.eq_ignore_ascii_case("no") && before.trim().eq_ignore_ascii_case("no"))
}

/// Whether the end of a line ends a sentence: the line is not full, and the next one begins like a
/// sentence.
fn ends_line(line: &str, next: Option<char>) -> bool {
    let is_full = line.chars().count() >= FULL_LINE;
    next.is_none_or(|next| {
        next == '\n' || !is_full && !next.is_lowercase() && !next.is_whitespace()
    })
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
}
