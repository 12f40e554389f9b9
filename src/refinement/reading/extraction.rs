//! Reads the claims and questions that a model extracted from a plain document.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::domain::stored_record::{Completion, StoredRecord};
use crate::domain::text::{clean, one_line, shortened};
use crate::refinement::label::form::ExtractionForm;
use crate::stopping::convergence::QuestionKey;

use super::content;

/// The most characters of a claim or question.
const LENGTH: usize = 300;

/// What a plain document says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractedItems {
    /// What it states as settled.
    pub high: Vec<String>,
    /// What it assumes, proposes or is not sure of.
    pub medium: Vec<String>,
    /// Its questions, gaps and contradictions.
    pub open: Vec<String>,
}

/// Error for an answer from which nothing can be extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ExtractionError {
    #[error("the model gave no answer")]
    NoAnswer,
    #[error(
        "the model's answer has no line that begins with `HIGH:`, `MEDIUM:` or `OPEN:`, and no key \
         points"
    )]
    NoLines,
}

/// Returns what a model extracted, from the record of its consultation of one round: from the
/// labelled lines of its answer, or from its key points if there are none.
pub fn extracted_items(record: &StoredRecord) -> Result<ExtractedItems, ExtractionError> {
    let answer = record
        .independents()
        .next()
        .filter(|_| record.completion() == Completion::Completed)
        .ok_or(ExtractionError::NoAnswer)?;
    let points = answer.key_points.join("\n");
    let parts = [
        answer.position.as_str(),
        points.as_str(),
        answer.rationale.as_str(),
        answer.prose_excerpt.as_str(),
    ];
    read_extraction(&parts.join("\n")).or_else(|_| unlabelled(&answer.key_points))
}

/// Reads the lines `HIGH: …`, `MEDIUM: …` and `OPEN: …` of an answer. A text that has several
/// labels counts under the least certain one.
pub fn read_extraction(text: &str) -> Result<ExtractedItems, ExtractionError> {
    let text = clean(text).replace("\\n", "\n");
    let mut entries = Entries::default();
    let mut section: Option<ExtractionForm> = None;
    for part in text.lines().flat_map(parts) {
        if let Some((form, content)) = labelled(part, &mut section) {
            entries.add(form, &content);
        }
    }
    entries.items()
}

/// Reads key points without labels, as small models write them. A question is open; what else they
/// say is of medium confidence, as no label tells what is settled.
fn unlabelled(key_points: &[String]) -> Result<ExtractedItems, ExtractionError> {
    let mut entries = Entries::default();
    for point in key_points {
        let point = one_line(&clean(point));
        let mut section = None;
        let has_label = labelled(&point, &mut section).is_some() || section.is_some();
        let (words, _) = content::without_marker(&point);
        let content = content::bare(words);
        if has_label || content::is_no_answer(&content) {
            continue;
        }
        let is_question = content
            .trim_end_matches(['"', '”', '*', '_', '`', ')'])
            .ends_with(['?', '？']);
        let form = if is_question {
            ExtractionForm::Open
        } else {
            ExtractionForm::Medium
        };
        entries.add(form, &content);
    }
    entries.items()
}

/// The texts of an answer, each once, in its order.
#[derive(Default)]
struct Entries {
    texts: Vec<(ExtractionForm, String)>,
    by_key: BTreeMap<QuestionKey, usize>,
}

impl Entries {
    /// Adds a text that says something.
    fn add(&mut self, form: ExtractionForm, content: &str) {
        let content = shortened(content, LENGTH);
        let key = QuestionKey::of(&content);
        if content::is_nothing(&content) || content::is_echo(&content) || key.as_str().is_empty() {
            return;
        }
        let known = self.by_key.get(&key).and_then(|at| self.texts.get_mut(*at));
        if let Some((known, _)) = known {
            *known = less_certain(*known, form);
        } else {
            self.by_key.insert(key, self.texts.len());
            self.texts.push((form, content));
        }
    }

    fn items(self) -> Result<ExtractedItems, ExtractionError> {
        if self.texts.is_empty() {
            return Err(ExtractionError::NoLines);
        }
        let of = |wanted: ExtractionForm| {
            let texts = self.texts.iter().filter(|(form, _)| *form == wanted);
            let texts = texts.map(|(_, text)| text.clone());
            texts.take(ExtractionForm::MOST_LINES).collect()
        };
        Ok(ExtractedItems {
            high: of(ExtractionForm::High),
            medium: of(ExtractionForm::Medium),
            open: of(ExtractionForm::Open),
        })
    }
}

/// Divides a line before each label in it: models write all lines as one.
fn parts(line: &str) -> Vec<&str> {
    let mut cuts: Vec<usize> = ExtractionForm::ALL
        .into_iter()
        .flat_map(|form| {
            let label = form.label();
            line.match_indices(label).filter_map(move |(at, _)| {
                let before = line.get(..at)?.trim_end_matches(['*', '_', '[', '-', ' ']);
                let after = line
                    .get(at + label.len()..)?
                    .trim_start_matches(['*', '_', ']']);
                let ends = before.ends_with(['.', ';', '!', '?', '。', '？', '|']);
                (ends && after.starts_with([':', '：'])).then_some(at)
            })
        })
        .collect();
    cuts.sort_unstable();
    let ends = cuts.iter().copied().chain([line.len()]);
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    starts
        .zip(ends)
        .filter_map(|(start, end)| line.get(start..end))
        .collect()
}

/// Returns the form and the text of a line. A line with a form alone is a heading: the list items
/// below it are of that form.
fn labelled(line: &str, section: &mut Option<ExtractionForm>) -> Option<(ExtractionForm, String)> {
    let (start, is_item) = start(line);
    let rest = line.get(start..).unwrap_or_default();
    let label = ExtractionForm::ALL.into_iter().find_map(|form| {
        let (head, after) = rest.split_at_checked(form.label().len())?;
        let is_label = head.eq_ignore_ascii_case(form.label());
        let is_capital = head == form.label();
        let after = after.trim_start_matches(['*', '_', '`', ']', ')', '"', ' ']);
        let separated = [":", "：", "|", "–", "—", "- "]
            .into_iter()
            .find_map(|separator| after.strip_prefix(separator));
        let is_heading = after.is_empty() || after.eq_ignore_ascii_case("confidence");
        match separated {
            Some(text) if is_label => Some((form, content::bare(text))),
            None if is_label && (is_heading || is_capital && after.is_empty()) => {
                Some((form, String::new()))
            }
            Some(_) | None => None,
        }
    });
    match label {
        Some((form, text)) if text.is_empty() => {
            *section = Some(form);
            None
        }
        Some(found) => {
            *section = None;
            Some(found)
        }
        None if is_item => section.map(|form| (form, content::bare(rest))),
        None => {
            if !line.trim().is_empty() {
                *section = None;
            }
            None
        }
    }
}

/// Returns the byte at which a line's words begin, and whether it is a list item.
fn start(line: &str) -> (usize, bool) {
    let marked = line.trim_start();
    let digits = marked.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = digits.len() < marked.len() && digits.starts_with(['.', ')']);
    let is_item = is_numbered
        || ["- ", "* ", "+ ", "• "]
            .iter()
            .any(|marker| marked.starts_with(marker));
    let from = if is_numbered {
        line.len() - digits.len()
    } else {
        0
    };
    let rest = line.get(from..).unwrap_or_default();
    let first = rest.find(char::is_alphanumeric);
    (first.map_or(line.len(), |first| from + first), is_item)
}

fn less_certain(one: ExtractionForm, other: ExtractionForm) -> ExtractionForm {
    match (one, other) {
        (ExtractionForm::Open, _) | (_, ExtractionForm::Open) => ExtractionForm::Open,
        (ExtractionForm::Medium, _) | (_, ExtractionForm::Medium) => ExtractionForm::Medium,
        (ExtractionForm::High, ExtractionForm::High) => ExtractionForm::High,
    }
}
