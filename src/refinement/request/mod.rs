//! The questions that models get about a document, and the document as their context.
//!
//! The document, its questions and its claims are data: they are quoted between lines that do not
//! occur in them, each in one line.

mod source;

use std::collections::BTreeMap;

use crate::consultation::prompt::fence::Fence;
use crate::consultation::prompt::{
    PromptError, REFINE_EXTRACTION, REFINE_QUESTIONS, Size, Templates,
};
use crate::consultation::protocol::answer::AnswerForm;
use crate::stopping::convergence::QuestionKey;
use crate::text::clean::one_line;

use super::batches::QuestionBatch;
use super::reading::extraction::MAX_ITEMS;

pub use source::{DocumentSource, document_source};

/// The most characters of a question that stands in a title.
const TITLE_LENGTH: usize = 160;

/// The document goes with it as context.
pub fn question_text(
    templates: &Templates,
    size: Size,
    name: &str,
    batch: &QuestionBatch,
) -> Result<String, PromptError> {
    let texts = batch.questions.iter().chain(&batch.claims);
    let fence = Fence::around(texts.map(|(_, text)| text.as_str()));
    let quoted = |letter: &str, entries: &[(QuestionKey, String)]| {
        let lines: Vec<String> = (1..)
            .zip(entries)
            .map(|(number, (_, text))| format!("{letter}{number}: {text}"))
            .collect();
        if lines.is_empty() {
            String::new()
        } else {
            fence.enclose(&lines.join("\n"))
        }
    };
    let mut values = BTreeMap::new();
    values.insert("title", batch_title(name, batch));
    values.insert("questions", quoted("Q", &batch.questions));
    values.insert("claims", quoted("C", &batch.claims));
    values.insert("open", fence.open());
    values.insert("close", fence.close());
    templates.question(REFINE_QUESTIONS, size, &values)
}

pub fn question_form(size: Size, batch: &QuestionBatch) -> AnswerForm {
    AnswerForm::Findings {
        questions: batch.questions.len(),
        claims: batch.claims.len(),
        is_brief: size == Size::Small,
    }
}

/// Returns the question that has the claims and questions of a plain document extracted, for an
/// expert of a size. Meant for a consultation of one expert and one round, with the document of
/// this name as context.
pub fn extraction_question(
    templates: &Templates,
    size: Size,
    name: &str,
) -> Result<String, PromptError> {
    let mut values = BTreeMap::new();
    let title = format!("{}: claims and questions", one_line(name));
    values.insert("title", title);
    values.insert("most", MAX_ITEMS.to_string());
    templates.question(REFINE_EXTRACTION, size, &values)
}

/// `SPEC.md: "Who pays?" (+2)`. A very long question is not named: what is left of a secret would
/// not be masked.
fn batch_title(name: &str, batch: &QuestionBatch) -> String {
    let name = one_line(name);
    let all = batch.questions.len();
    let first = batch.questions.first().map(|(_, text)| one_line(text));
    match first.filter(|first| first.chars().count() <= TITLE_LENGTH) {
        None if all == 1 => format!("{name}: 1 question"),
        None => format!("{name}: {all} questions"),
        Some(first) => {
            let first = first.replace('"', "'");
            let others = all.saturating_sub(1);
            let others = (others > 0).then(|| format!(" (+{others})"));
            format!("{name}: \"{first}\"{}", others.unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests;
