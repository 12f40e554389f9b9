//! What consultations together say of each question.

use std::collections::BTreeMap;

use crate::refinement::finding::{BatchFindings, FindingSource, PanelFinding};
use crate::stopping::convergence::QuestionKey;

/// What follows for a question from all that was found about it: it is answered, deferred or still
/// open.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QuestionOutcome<'f> {
    pub(super) source: &'f FindingSource,
    pub(super) finding: PanelFinding,
}

impl QuestionOutcome<'_> {
    /// Returns the outcome of this one and a later one about the same question.
    fn with(self, later: Self) -> Self {
        use PanelFinding::{Answered, Deferred, StillOpen};
        match (&self.finding, &later.finding) {
            (Answered { answer, .. }, Deferred { question, reason })
            | (Deferred { question, reason }, Answered { answer, .. }) => Self {
                source: self.source,
                finding: StillOpen {
                    question: question.clone(),
                    reason: format!("one panel answers “{answer}”, another defers it: {reason}"),
                },
            },
            // An unknown confidence is below every known one.
            (Answered { .. }, Answered { .. })
                if later.source.confidence > self.source.confidence =>
            {
                later
            }
            (StillOpen { .. }, Answered { .. } | Deferred { .. }) => later,
            _ => self,
        }
    }
}

/// Returns the outcome of each question in the order in which the findings name them.
pub(super) fn outcomes<'f>(
    findings: &[&'f BatchFindings],
) -> Vec<(QuestionKey, QuestionOutcome<'f>)> {
    let mut order: Vec<QuestionKey> = Vec::new();
    let mut outcomes: BTreeMap<QuestionKey, QuestionOutcome<'f>> = BTreeMap::new();
    for batch in findings {
        let unread = batch.unread.iter().map(|question| PanelFinding::StillOpen {
            question: question.clone(),
            reason: "the answer says nothing readable about it".to_owned(),
        });
        for finding in batch.findings.iter().cloned().chain(unread) {
            let Some(question) = finding.question().cloned() else {
                continue;
            };
            let source = &batch.source;
            let outcome = QuestionOutcome { source, finding };
            let merged = if let Some(earlier) = outcomes.remove(&question) {
                earlier.with(outcome)
            } else {
                order.push(question.clone());
                outcome
            };
            outcomes.insert(question, merged);
        }
    }
    let in_order = order.into_iter();
    in_order
        .filter_map(|question| outcomes.remove_entry(&question))
        .collect()
}
