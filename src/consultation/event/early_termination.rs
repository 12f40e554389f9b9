//! Early termination of a consultation because the experts agree, with its findings.

use serde::{Deserialize, Serialize};

use crate::domain::confidence::{Calibrated, Confidence};
use crate::domain::money::Cost;
use crate::stopping::evaluation::Evaluation;

/// The findings on which the decision rests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlyTermination {
    /// The judge's mean stated confidence in the points of agreement.
    pub confidence: Option<Confidence>,
    pub threshold: Confidence,
    /// The calibrated probability that the leading point is right.
    pub calibrated: Option<Calibrated>,
    pub evaluation: Evaluation,
    /// The number of rounds that an early end skips.
    pub rounds_skipped: u8,
    /// The estimated cost of the skipped rounds.
    pub estimated_cost_saved: Cost,
}

/// The decision on an early end, and who or what made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlyTerminationDecision {
    pub ended: bool,
    pub by: DecidedBy,
    #[serde(flatten)]
    pub findings: EarlyTermination,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The stated confidence is below the threshold.
    Threshold,
    /// No person can be asked: the consultation ends only if no guard objects.
    Guards,
    Person,
    /// The person had left when asked, so the guards decided.
    NobodyThere,
}

impl EarlyTerminationDecision {
    /// The original design's name for the reason.
    pub const REASON: &'static str = "high_confidence_after_synthesis";
}
