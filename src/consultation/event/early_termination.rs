//! Whether a consultation ends early because the experts agree, with the findings for and against
//! it.

use serde::{Deserialize, Serialize};

use crate::domain::confidence::Confidence;
use crate::domain::money::Cost;
use crate::stopping::early_termination::Calibrated;
use crate::stopping::evaluation::Evaluation;

/// The findings on which the decision rests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlyTermination {
    /// What the judge states about the points of agreement, on average.
    pub confidence: Option<Confidence>,
    pub threshold: Confidence,
    /// The probability that the leading point is right, from which experts agree on it.
    pub calibrated: Option<Calibrated>,
    pub evaluation: Evaluation,
    /// How many rounds an end would leave out.
    pub rounds_skipped: u8,
    /// What these would cost.
    pub estimated_cost_saved: Cost,
}

/// What was decided, and who or what decided it.
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
    /// There is no person to ask: the consultation ends only without any finding against it.
    Guards,
    Person,
    /// The person was gone when asked, so that the guards decided.
    NobodyThere,
}

impl EarlyTerminationDecision {
    /// The word of the original design for why it ended.
    pub const REASON: &'static str = "high_confidence_after_synthesis";
}
