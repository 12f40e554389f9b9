//! An iteration of a loop in its report.

use serde::Serialize;

use crate::domain::time::Timestamp;
use crate::refinement::change::ItemChange;
use crate::refinement::state::IterationRecord;
use crate::stopping::convergence::DocumentMeasure;
use crate::stopping::evaluation::Evaluation;

use super::consultation::ConsultationReport;

/// An iteration. What follows from its merge is there once the text was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IterationReport {
    /// From 1.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub iteration: u64,
    pub started_at: Timestamp,
    pub consultations: Vec<ConsultationReport>,
    /// Whether its findings are in the document.
    pub written: bool,
    pub changes: Vec<ItemChange>,
    /// The document after it.
    pub measure: Option<DocumentMeasure>,
    pub evaluation: Option<Evaluation>,
}

impl IterationReport {
    pub(super) fn of(iteration: &IterationRecord) -> Self {
        let merge = iteration.written();
        let batches = iteration.batches.iter();
        Self {
            iteration: iteration.number,
            started_at: iteration.started_at,
            consultations: batches.map(ConsultationReport::of).collect(),
            written: merge.is_some(),
            changes: merge.map_or_else(Vec::new, |merge| merge.changes.clone()),
            measure: merge.map(|merge| merge.measure.clone()),
            evaluation: merge.map(|merge| merge.evaluation.clone()),
        }
    }
}
