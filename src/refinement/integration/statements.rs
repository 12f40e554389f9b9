//! What consultations together say of each question.

use std::collections::BTreeMap;

use crate::refinement::finding::{BatchFindings, FindingSource, PanelFinding};
use crate::stopping::convergence::QuestionKey;

/// What follows for a question from all that was found about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum QuestionOutcome<'f> {
    Answered {
        source: &'f FindingSource,
        answer: &'f str,
        dissent: Option<&'f str>,
    },
    Deferred {
        source: &'f FindingSource,
        reason: &'f str,
    },
    StillOpen {
        source: &'f FindingSource,
        reason: String,
    },
}

impl<'f> QuestionOutcome<'f> {
    pub(super) fn source(&self) -> &'f FindingSource {
        match self {
            Self::Answered { source, .. }
            | Self::Deferred { source, .. }
            | Self::StillOpen { source, .. } => source,
        }
    }

    pub(super) fn reason(&self) -> String {
        match self {
            Self::Answered { answer, .. } => (*answer).to_owned(),
            Self::Deferred { reason, .. } => (*reason).to_owned(),
            Self::StillOpen { reason, .. } => reason.clone(),
        }
    }

    /// Returns the outcome of this one and a later one about the same question.
    fn with(self, later: Self) -> Self {
        match (self, later) {
            (Self::Answered { source, answer, .. }, Self::Deferred { reason, .. })
            | (Self::Deferred { source, reason }, Self::Answered { answer, .. }) => {
                Self::StillOpen {
                    source,
                    reason: format!("one panel answers “{answer}”, another defers it: {reason}"),
                }
            }
            (earlier @ Self::Answered { .. }, later @ Self::Answered { .. }) => {
                if confidence(&later) > confidence(&earlier) {
                    later
                } else {
                    earlier
                }
            }
            (Self::StillOpen { .. }, later @ (Self::Answered { .. } | Self::Deferred { .. })) => {
                later
            }
            (earlier, _) => earlier,
        }
    }
}

/// An unknown confidence is below every known one.
fn confidence(outcome: &QuestionOutcome<'_>) -> Option<f64> {
    outcome.source().confidence
}

/// Returns the outcome of each question in the order in which the findings name them.
pub(super) fn outcomes<'f>(
    findings: &[&'f BatchFindings],
) -> Vec<(QuestionKey, QuestionOutcome<'f>)> {
    let mut order: Vec<&QuestionKey> = Vec::new();
    let mut outcomes: BTreeMap<&QuestionKey, QuestionOutcome<'f>> = BTreeMap::new();
    for batch in findings {
        let statements = batch
            .findings
            .iter()
            .filter_map(|finding| statement(&batch.source, finding));
        let unread = batch.unread.iter().map(|question| {
            let outcome = QuestionOutcome::StillOpen {
                source: &batch.source,
                reason: "the answer says nothing readable about it".to_owned(),
            };
            (question, outcome)
        });
        for (question, outcome) in statements.chain(unread) {
            let merged = if let Some(earlier) = outcomes.remove(question) {
                earlier.with(outcome)
            } else {
                order.push(question);
                outcome
            };
            outcomes.insert(question, merged);
        }
    }
    let in_order = order.into_iter();
    in_order
        .filter_map(|question| Some((question.clone(), outcomes.remove(question)?)))
        .collect()
}

fn statement<'f>(
    source: &'f FindingSource,
    finding: &'f PanelFinding,
) -> Option<(&'f QuestionKey, QuestionOutcome<'f>)> {
    let question = finding.question()?;
    let outcome = match finding {
        PanelFinding::Answered {
            answer, dissent, ..
        } => QuestionOutcome::Answered {
            source,
            answer,
            dissent: dissent.as_deref(),
        },
        PanelFinding::Deferred { reason, .. } => QuestionOutcome::Deferred { source, reason },
        PanelFinding::StillOpen { reason, .. } => QuestionOutcome::StillOpen {
            source,
            reason: reason.clone(),
        },
        PanelFinding::Contradicted { .. } | PanelFinding::NewQuestion { .. } => return None,
    };
    Some((question, outcome))
}
