//! The lines of an answer: JSON becomes labelled lines, and quoted lines are known.

use crate::domain::text::clean;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::label::label_at;

use super::json;

/// A line of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AnswerLine {
    pub(super) text: String,
    /// In a code block or a block quote.
    pub(super) is_quoted: bool,
}

/// Returns the lines of an answer.
pub(super) fn lines(text: &str, batch: &QuestionBatch) -> Vec<AnswerLine> {
    let text = clean(text);
    let text = json::labelled_text(&text).unwrap_or(text);
    let text = unescaped(text, batch.mark.as_deref());
    let mut fence: Option<&str> = None;
    let mut lines: Vec<AnswerLine> = Vec::new();
    for line in text.lines() {
        if let Some(marker) = fence_of(line) {
            match fence {
                None => fence = Some(marker),
                Some(open) if open == marker => fence = None,
                Some(_) => {}
            }
            continue;
        }
        let unquoted = line.trim_start().strip_prefix('>');
        lines.push(AnswerLine {
            text: unquoted.unwrap_or(line).to_owned(),
            is_quoted: fence.is_some() || unquoted.is_some(),
        });
    }
    lines
}

fn fence_of(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    ["```", "~~~"]
        .into_iter()
        .find(|marker| line.starts_with(marker))
}

/// Replaces written-out line breaks in a text of one line, if a label follows one of them: models
/// escape a JSON string twice.
fn unescaped(text: String, mark: Option<&str>) -> String {
    const BREAK: &str = "\\n";
    if text.trim().contains('\n') || !text.contains(BREAK) {
        return text;
    }
    let begins_label = |part: &str| {
        let start = part.find(|c: char| c.is_alphabetic());
        start.is_some_and(|start| label_at(part, start, mark).is_some())
    };
    if text.split(BREAK).skip(1).any(begins_label) {
        text.replace(BREAK, "\n").replace("\\\"", "\"")
    } else {
        text
    }
}
