//! Answers that are tables: a row of a question becomes a labelled line.

use crate::refinement::batches::QuestionBatch;
use crate::refinement::label::mark::numbered;
use crate::refinement::label::{
    Label, LabelMatch, LabelOutcome, LabelSyntax, Matter, label_at, outcome_at, starts_of_words,
};
use crate::stopping::convergence::QuestionKey;

use super::lines::AnswerLine;

/// Replaces the rows of tables that are about a question, a claim or a new question.
pub(super) fn labelled_rows(lines: Vec<AnswerLine>, batch: &QuestionBatch) -> Vec<AnswerLine> {
    let mut header: Vec<String> = Vec::new();
    let mut labelled = Vec::with_capacity(lines.len());
    let mut previous: Option<Vec<String>> = None;
    for line in lines {
        let Some(cells) = cells(&line.text) else {
            header.clear();
            previous = None;
            labelled.push(line);
            continue;
        };
        if cells.iter().all(|cell| is_rule(cell)) {
            header = previous.take().unwrap_or_default();
            continue;
        }
        let row = TableRow {
            cells: &cells,
            header: &header,
            batch,
        };
        match row.lines() {
            Some(texts) => labelled.extend(texts.into_iter().map(|text| AnswerLine {
                text,
                is_quoted: line.is_quoted,
            })),
            None => labelled.push(line),
        }
        previous = Some(cells);
    }
    labelled
}

/// Returns the cells of a row; `None` for a line of no table.
fn cells(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let inner = line.strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let cells: Vec<String> = inner
        .replace("\\|", "\u{1}")
        .split('|')
        .map(|cell| cell.trim().replace('\u{1}', "|"))
        .collect();
    (cells.len() > 1).then_some(cells)
}

fn is_rule(cell: &str) -> bool {
    !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':' | '=' | ' '))
}

struct TableRow<'a> {
    cells: &'a [String],
    header: &'a [String],
    batch: &'a QuestionBatch,
}

impl TableRow<'_> {
    /// Returns the labelled lines of the row; `None` if it is about something else.
    fn lines(&self) -> Option<Vec<String>> {
        let mark = self.batch.mark.as_deref();
        let (at, found) = self.cells.iter().enumerate().find_map(|(at, cell)| {
            let start = starts_of_words(cell).next()?;
            label_at(cell, start, mark).map(|found| (at, found))
        })?;
        let own = self.cells.get(at)?;
        match found.label {
            Label::Finding(matter, outcome) => {
                let own_text = own.get(found.end..).unwrap_or_default().trim();
                let text = if own_text.is_empty() {
                    self.text(at + 1, matter)
                } else {
                    own_text.to_owned()
                };
                Some(self.labelled(matter, outcome, &text))
            }
            Label::NewQuestion | Label::NewBlocker => {
                let text = self.text(at + 1, Matter::Question(0));
                Some(vec![format!("{own} {text}")]).filter(|_| is_whole(own, found))
            }
            Label::Reference(matter) => self.of_reference(at, matter),
        }
    }

    fn of_reference(&self, at: usize, matter: Matter) -> Option<Vec<String>> {
        let others = self.cells.iter().enumerate().filter(|(of, _)| *of != at);
        let (of, outcome, text) = others.clone().find_map(|(of, cell)| {
            let start = starts_of_words(cell).next()?;
            let (outcome, found) = outcome_at(cell, start)?;
            let rest = cell.get(found.end..).unwrap_or_default().trim();
            let is_label = rest.is_empty() || found.syntax == LabelSyntax::Full;
            is_label.then(|| (of, outcome, rest.to_owned()))
        })?;
        if !text.is_empty() {
            return Some(self.labelled(matter, outcome, &text));
        }
        let after = self.text(of + 1, matter);
        let text = if after.is_empty() {
            self.between(at + 1, of, matter)
        } else {
            after
        };
        Some(self.labelled(matter, outcome, &text))
    }

    fn labelled(&self, matter: Matter, outcome: LabelOutcome, text: &str) -> Vec<String> {
        let mark = self.batch.mark.as_deref();
        let (letter, number) = match matter {
            Matter::Question(number) => ("Q", number),
            Matter::Claim(number) => ("C", number),
        };
        let name = numbered(letter, number, mark);
        let word = match outcome {
            LabelOutcome::Answered => "ANSWERED",
            LabelOutcome::Open => "OPEN",
            LabelOutcome::Deferred => "DEFERRED",
            LabelOutcome::Dissent => "DISSENT",
            LabelOutcome::Contradicted => "CONTRADICTED",
        };
        let mut lines = vec![format!("{name} {word}: {text}")];
        if let Some(dissent) = self.dissent() {
            lines.push(format!("{name} DISSENT: {dissent}"));
        }
        lines
    }

    /// Returns the cell under the heading of dissent.
    fn dissent(&self) -> Option<&str> {
        let column = self.header.iter().position(|name| is_dissent(name))?;
        self.cells.get(column).map(String::as_str)
    }

    /// Returns the texts of the cells from a column on.
    fn text(&self, from: usize, matter: Matter) -> String {
        self.between(from, self.cells.len(), matter)
    }

    fn between(&self, from: usize, to: usize, matter: Matter) -> String {
        let question = match matter {
            Matter::Question(number) => number
                .checked_sub(1)
                .and_then(|at| self.batch.questions.get(at)),
            Matter::Claim(number) => number
                .checked_sub(1)
                .and_then(|at| self.batch.claims.get(at)),
        };
        let cells = self.cells.iter().enumerate().take(to).skip(from);
        let texts = cells.filter(|(column, cell)| {
            let name = self
                .header
                .get(*column)
                .map(String::as_str)
                .unwrap_or_default();
            let is_question = question.is_some_and(|(key, _)| QuestionKey::of(cell) == *key);
            !is_dissent(name) && !is_confidence(name) && !is_question && !is_nothing(cell)
        });
        let texts: Vec<&str> = texts.map(|(_, cell)| cell.as_str()).collect();
        texts.join("; ")
    }
}

fn is_whole(cell: &str, found: LabelMatch) -> bool {
    cell.get(found.end..).unwrap_or_default().trim().is_empty()
}

fn is_dissent(name: &str) -> bool {
    QuestionKey::of(name).as_str().starts_with("dissent")
}

fn is_confidence(name: &str) -> bool {
    QuestionKey::of(name).as_str().starts_with("confidence")
}

fn is_nothing(cell: &str) -> bool {
    cell.chars().all(|c| matches!(c, '-' | '–' | '—' | ' '))
}
