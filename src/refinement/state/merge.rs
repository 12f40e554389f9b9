//! The merge of an iteration: findings, what follows for convergence, and the front matter.

use crate::domain::answer::confidence::Confidence;
use crate::refinement::document::{SectionKind, SpecDocument};
use crate::refinement::event::{Integrated, TextHash};
use crate::refinement::front_matter::{self, ConvergenceEntry, FrontMatterError};
use crate::refinement::integration::{Integration, add_extraction, integrate};
use crate::stopping::convergence::{DocumentMeasure, evaluate, stable_count};

use super::iteration::IterationRecord;
use super::refinement_loop::RefinementLoop;

/// A merge: the event that decides it, and the text that it writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    pub event: Integrated,
    pub text: String,
}

impl RefinementLoop {
    /// Returns the document as the panel gets it: a plain one has the sections that were extracted
    /// from it. Also returns the changes that this takes.
    ///
    /// # Errors
    ///
    /// When the text with the sections cannot be read.
    pub fn prepared(&self, document: &SpecDocument) -> Result<Integration, FrontMatterError> {
        let extraction = self.extraction(&TextHash::of(document.text()));
        match extraction.filter(|_| !document.has_sections()) {
            Some(extraction) => add_extraction(document, extraction, self.next_change()),
            None => Ok(Integration {
                text: document.text().to_owned(),
                changes: Vec::new(),
            }),
        }
    }

    /// Merges the findings of the open iteration into the document that it works on.
    ///
    /// # Errors
    ///
    /// When the new text cannot be read.
    pub fn merge(
        &self,
        document: &SpecDocument,
        high_from: Confidence,
    ) -> Result<Merge, FrontMatterError> {
        let prepared = self.prepared(document)?;
        let working = document.with_text(&prepared.text)?;
        let first_change = prepared
            .changes
            .last()
            .map_or_else(|| self.next_change(), |change| change.number + 1);
        let (findings, known) = (self.pending_findings(), self.known_questions());
        let integration = integrate(&working, &findings, first_change, high_from, known)?;
        let merged = document.with_text(&integration.text)?;
        let mut measures = self.measures();
        let measure = DocumentMeasure {
            unanswered: self.unanswered(&merged),
            ..merged.measure()
        };
        measures.push(measure.clone());
        let evaluation = evaluate(&self.criteria, &measures);
        let iteration = self.next_iteration();
        let stable = stable_count(&self.criteria, &measures);
        let questions = merged.fingerprint();
        let entry = ConvergenceEntry::new(iteration, stable, questions, &measure, &evaluation);
        let text = front_matter::with_entry(&integration.text, &entry)?;
        let changes = prepared.changes.into_iter().chain(integration.changes);
        let event = Integrated {
            iteration,
            before: TextHash::of(document.text()),
            after: TextHash::of(&text),
            changes: changes.collect(),
            measure,
            evaluation,
        };
        Ok(Merge { event, text })
    }

    /// Returns how many open questions of a merged text have no readable answer of the iteration.
    fn unanswered(&self, merged: &SpecDocument) -> u64 {
        let iteration = self.open_iteration();
        let unanswered = iteration.map(IterationRecord::unanswered);
        let unanswered = unanswered.unwrap_or_default();
        let open = merged.items(SectionKind::Open).iter();
        open.filter(|item| unanswered.contains(&item.key)).count() as u64
    }
}
