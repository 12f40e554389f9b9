//! The text of a segment as one paragraph.

use crate::domain::text::{one_line, shortened};
use crate::refinement::label::form::is_placeholder;
use crate::stopping::convergence::QuestionKey;

use super::segments::Segment;

/// Words that begin a closing remark, which belongs to no label.
const CLOSINGS: [&str; 14] = [
    "overall",
    "in summary",
    "in conclusion",
    "to summarise",
    "to summarize",
    "summary",
    "conclusion",
    "note that",
    "please",
    "let me know",
    "i hope",
    "confidence",
    "zusammenfassend",
    "总之",
];

/// Texts that say that there is nothing.
const NOTHINGS: [&str; 14] = [
    "",
    "none",
    "no",
    "nothing",
    "n a",
    "na",
    "not applicable",
    "nil",
    "no one",
    "no dissent",
    "no objection",
    "no objections",
    "no new questions",
    "keine",
];

/// Texts that stand where an answer was asked for and are none.
const NON_ANSWERS: [&str; 22] = [
    "unknown",
    "unclear",
    "open",
    "still open",
    "deferred",
    "answered",
    "not answered",
    "unanswered",
    "no answer",
    "not known",
    "not specified",
    "not stated",
    "undecided",
    "undetermined",
    "tbd",
    "tba",
    "todo",
    "to be decided",
    "to be determined",
    "to be defined",
    "i don t know",
    "unbekannt",
];

/// Returns the text of a segment as one paragraph of at most so many characters, without list
/// markers and unbalanced Markdown.
///
/// Further paragraphs belong to it up to the next label. After the last label, only a list does:
/// what else follows are closing remarks.
pub(super) fn paragraph(segment: &Segment, length: usize) -> String {
    let mut text = String::new();
    let mut is_after_blank = false;
    for line in &segment.lines {
        let (line, is_item) = without_marker(line);
        if line.is_empty() {
            is_after_blank = !text.is_empty();
            continue;
        }
        if is_after_blank && !is_item && (!segment.has_successor || is_closing(line)) {
            break;
        }
        is_after_blank = false;
        if !text.is_empty() {
            let is_listed = is_item && !text.ends_with(['.', ':', ';', ',', '!', '?']);
            text.push_str(if is_listed { "; " } else { " " });
        }
        text.push_str(line);
    }
    shortened(&bare(&text), length)
}

/// Returns each list item of a segment whose label has no text of its own, else its paragraph.
pub(super) fn items(segment: &Segment, length: usize) -> Vec<String> {
    let mut lines = segment.lines.iter();
    let first = lines.next().map(|line| line.trim()).unwrap_or_default();
    let listed: Vec<String> = lines
        .map(|line| without_marker(line))
        .filter(|(_, is_item)| *is_item)
        .map(|(line, _)| shortened(&bare(line), length))
        .collect();
    if first.is_empty() && !listed.is_empty() {
        listed
    } else {
        vec![paragraph(segment, length)]
    }
}

/// Whether a text says nothing, or that there is nothing.
pub(super) fn is_nothing(text: &str) -> bool {
    NOTHINGS.contains(&QuestionKey::of(text).as_str())
}

/// Whether a text only repeats what was asked for, or leaves it out.
pub(super) fn is_echo(text: &str) -> bool {
    let inner = text.trim().trim_matches(['*', '_', '`', '.']);
    let is_slot = [('<', '>'), ('{', '}'), ('[', ']')]
        .into_iter()
        .any(|(open, close)| {
            let inner = inner.strip_prefix(open);
            let inner = inner.and_then(|rest| rest.strip_suffix(close));
            inner.is_some_and(|inner| !inner.contains([open, close]))
        });
    is_slot || is_placeholder(text)
}

/// Whether a text is no answer.
pub(super) fn is_no_answer(text: &str) -> bool {
    is_nothing(text) && !is_word_of_answer(text)
        || NON_ANSWERS.contains(&QuestionKey::of(text).as_str())
}

/// "No" and "none" answer questions.
fn is_word_of_answer(text: &str) -> bool {
    matches!(
        QuestionKey::of(text).as_str(),
        "no" | "none" | "nothing" | "no one" | "keine"
    )
}

fn is_closing(line: &str) -> bool {
    let line = line
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    CLOSINGS.iter().any(|closing| line.starts_with(closing))
}

/// Returns a line without its list marker, and whether it had one.
pub(super) fn without_marker(line: &str) -> (&str, bool) {
    let line = line.trim();
    let bullet = ["- ", "* ", "+ ", "• "]
        .into_iter()
        .find_map(|marker| line.strip_prefix(marker));
    let number = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest
            .strip_prefix(['.', ')'])
            .filter(|_| rest.len() < line.len())?;
        rest.strip_prefix(' ')
    };
    match bullet.or_else(number) {
        Some(rest) => (rest.trim(), true),
        None => (line, false),
    }
}

/// Removes markup and quotes at the ends that have no counterpart, and quotes around the whole.
pub(super) fn bare(text: &str) -> String {
    let mut text = one_line(text);
    for marker in ["**", "__", "`", "*", "\""] {
        if text.matches(marker).count() % 2 == 1 {
            if let Some(rest) = text.strip_suffix(marker) {
                text = rest.trim_end().to_owned();
            } else if let Some(rest) = text.strip_prefix(marker) {
                text = rest.trim_start().to_owned();
            }
        }
    }
    let text = text.trim_start_matches([',', ';', ':', '|']).trim();
    let text = text.trim_end_matches(['|', ',', ';']).trim();
    let whole = [("\"", "\""), ("“", "”"), ("**", "**")]
        .into_iter()
        .find_map(|(open, close)| {
            let inner = text.strip_prefix(open)?.strip_suffix(close)?;
            (!inner.contains(open) && !inner.contains(close)).then_some(inner)
        });
    whole.unwrap_or(text).trim().to_owned()
}
