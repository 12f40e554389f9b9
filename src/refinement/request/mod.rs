//! The questions that models get about a document, and the document as their context.
//!
//! The document, its questions and its claims are data: they are quoted between lines that do not
//! occur in them, each in one line, and the labels of the answer do not occur in the document.

mod source;

use std::collections::BTreeMap;

use crate::consultation::prompt::fence::Fence;
use crate::consultation::prompt::{
    PromptError, REFINE_EXTRACTION, REFINE_QUESTIONS, Size, Templates,
};
use crate::domain::text::one_line;
use crate::stopping::convergence::QuestionKey;

use super::batches::QuestionBatch;
use super::label::form::{ExtractionForm, FindingForm};
use super::label::mark::numbered;

pub use source::{DocumentSource, document_source};

/// The most characters of a question that stands in a title.
const TITLE_LENGTH: usize = 160;

/// Returns the question of a batch's consultation about the document of this name, for experts of a
/// size. The document goes with it as context.
pub fn question_text(
    templates: &Templates,
    size: Size,
    name: &str,
    batch: &QuestionBatch,
) -> Result<String, PromptError> {
    let mark = batch.mark.as_deref();
    let texts = batch.questions.iter().chain(&batch.claims);
    let fence = Fence::around(texts.map(|(_, text)| text.as_str()));
    let quoted = |letter: &str, entries: &[(QuestionKey, String)]| {
        let lines: Vec<String> = (1..)
            .zip(entries)
            .map(|(number, (_, text))| format!("{}: {text}", numbered(letter, number, mark)))
            .collect();
        if lines.is_empty() {
            String::new()
        } else {
            fence.enclose(&lines.join("\n"))
        }
    };
    let mut values: BTreeMap<&'static str, String> = FindingForm::ALL
        .into_iter()
        .map(|form| (form.name(), form.line(mark)))
        .collect();
    values.insert("title", batch_title(name, batch));
    values.insert("questions", quoted("Q", &batch.questions));
    values.insert("claims", quoted("C", &batch.claims));
    values.insert("open", fence.open());
    values.insert("close", fence.close());
    templates.question(REFINE_QUESTIONS, size, &values)
}

/// Returns the question that has the claims and questions of a plain document extracted, for an
/// expert of a size. Meant for a consultation of one expert and one round, with the document of this
/// name as context.
pub fn extraction_question(
    templates: &Templates,
    size: Size,
    name: &str,
) -> Result<String, PromptError> {
    let mut values: BTreeMap<&'static str, String> = ExtractionForm::ALL
        .into_iter()
        .map(|form| match size {
            Size::Full => (form.name(), form.line()),
            Size::Small => (form.name(), form.short_lines()),
        })
        .collect();
    let title = format!("{}: claims and questions", one_line(name));
    values.insert("title", title);
    values.insert("most", ExtractionForm::MOST_LINES.to_string());
    templates.question(REFINE_EXTRACTION, size, &values)
}

/// Returns the line by which a person finds the consultation: `SPEC.md: "Who pays?" (+2)`. A very
/// long question is not named: what is left of a secret would not be masked.
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
