//! The result of one case run: the outcome, the answers by round, and what they cost.

use serde::{Deserialize, Serialize};

use crate::domain::cost::money::Cost;
use crate::domain::ids::{ConsultationId, ModelRef, SeatId};
use crate::domain::record::stored_record::spend::ConsultationSpend;

use super::run::CaseRunId;
pub use crate::stopping::batch::totals::CaseOutcome;

/// One finished case run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaseResult {
    #[serde(flatten)]
    pub run: CaseRunId,
    pub outcome: CaseOutcome,
    /// At least 1. Attempts that ended because of a provider are not counted.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub attempts: u32,
    /// How often it had no answer, or no grade, because of its providers.
    pub outages: u32,
    /// The answer as it was compared; `None` without one.
    pub answer: Option<GradedAnswer>,
    /// The confidence that the answer states, from 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub confidence: Option<f64>,
    /// The calibrated probability that the panel's leading point is right.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub calibrated: Option<f64>,
    /// The share of experts that support the leading point, from 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub agreement: Option<f64>,
    /// Whether the consultation ended after Round 2 because the experts agree.
    pub early_stop: bool,
    /// The estimated cost of Rounds 3 and 4 that an early stop saved; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<Cost>,
    /// Whether a model of demonstration quality stated the confidence, which then carries no
    /// information.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub demonstration: bool,
    /// Whether the answer would have been right after each stage of the debate.
    pub stages: StageResults,
    pub experts: Vec<ExpertResult>,
    /// All attempts, graders included.
    pub spend: ConsultationSpend,
    /// Milliseconds of all attempts, without waiting for their turn.
    pub duration_ms: u64,
    /// The consultations of all attempts; the last one gave the answer.
    pub consultations: Vec<ConsultationId>,
    /// The consultation in which a model graded the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grading: Option<ConsultationId>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl CaseResult {
    pub fn is_right(&self) -> bool {
        self.outcome == CaseOutcome::Approved
    }

    pub fn given(&self) -> &str {
        let why = || self.error.as_deref().unwrap_or("no answer");
        let answer = self.answer.as_ref();
        answer.map_or_else(why, |answer| &answer.text)
    }
}

/// An answer after it was compared with the expected one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GradedAnswer {
    /// The answer itself, without the text around it.
    pub text: String,
    pub is_right: bool,
    /// The error rate of a transcription.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub error_rate: Option<f64>,
}

/// Whether the answer was right at each stage; `None` where there is no answer to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageResults {
    /// The answer most experts gave in Round 1, the first seat's among equals.
    pub vote: Option<bool>,
    /// The leading point of Round 2.
    pub synthesis: Option<bool>,
    /// The answer most experts gave in Round 3, or had given in Round 1 if they gave none.
    pub revised_vote: Option<bool>,
    /// The answer of the consultation.
    pub verdict: Option<bool>,
}

/// One expert's answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExpertResult {
    pub seat: SeatId,
    pub model: ModelRef,
    /// Whether its answer of Round 1 is right; `None` if there is none.
    pub before: Option<bool>,
    /// Whether its answer of Round 3 is right; `None` if there is none.
    pub after: Option<bool>,
    /// The confidence it stated in Round 1.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub confidence: Option<f64>,
    /// The cost of its calls in Round 1; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}
