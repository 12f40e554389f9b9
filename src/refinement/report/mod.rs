//! The report of a loop over a document. Pure. The commands print it as JSON; screens show parts of
//! it.

mod consultation;

use serde::Serialize;

use super::state::{LoopPhase, RefinementLoop};
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::domain::time::Timestamp;
use crate::refinement::change::ItemChange;
use crate::refinement::state::IterationRecord;
use crate::stopping::convergence::{Criteria, DocumentMeasure};
use crate::stopping::evaluation::{Class, Decision, Evaluation};

pub use self::consultation::{ConsultationReport, ExtractionReport};

/// A loop over a document: its iterations, what the panel found, what was changed, and what was
/// decided. Unknown values are `None`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RefinementReport {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    /// The document that is read.
    pub document: String,
    /// The document that is written.
    pub output: String,
    #[serde(flatten)]
    pub phase: LoopPhase,
    /// The class of the last decision; `None` if it is to continue, or there is none yet.
    pub decision: Option<Class>,
    /// The rule that decided.
    pub rule: Option<String>,
    /// The decision for people.
    pub message: Option<String>,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    pub resumes: Vec<Timestamp>,
    /// Those of the process that works, or worked last.
    pub criteria: Criteria,
    /// Of claims and questions from a plain document.
    pub extractions: Vec<ExtractionReport>,
    pub iterations: Vec<IterationReport>,
    /// The cost of everything.
    pub spend: ConsultationSpend,
}

impl RefinementReport {
    pub fn of(refinement: &RefinementLoop) -> Self {
        let begun = &refinement.begun;
        let evaluation = refinement.evaluation();
        let iterations = refinement.iterations.iter();
        let extractions = refinement.extractions.iter();
        Self {
            schema_version: "1.0",
            document: begun.source.clone(),
            output: begun.output.clone(),
            phase: refinement.phase.clone(),
            decision: evaluation.and_then(Evaluation::class),
            rule: evaluation
                .and_then(Evaluation::deciding_rule)
                .map(str::to_owned),
            message: evaluation.and_then(message),
            started_at: refinement.begun_at,
            updated_at: refinement.updated_at,
            resumes: refinement.resumes.clone(),
            criteria: refinement.criteria,
            extractions: extractions.map(ExtractionReport::of).collect(),
            iterations: iterations.map(IterationReport::of).collect(),
            spend: refinement.spend(),
        }
    }
}

fn message(evaluation: &Evaluation) -> Option<String> {
    match &evaluation.decision {
        Decision::Continue => None,
        Decision::Stop { message, .. } => Some(message.clone()),
    }
}

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
    fn of(iteration: &IterationRecord) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<RefinementReport>("refine", "conclave refine --json");
    }
}
