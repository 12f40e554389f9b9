//! The reason why a batch stopped, in the form that the specification gives.

use serde::{Deserialize, Serialize};

use crate::domain::names::by_stored_name;
use crate::stopping::evaluation::{Decision, Evaluation, Value};
use crate::stopping::share;

/// A condition that stops a batch, in order of priority. Its rule in an evaluation has the same
/// name in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StopCondition {
    Interrupted,
    Authentication,
    Quota,
    CostCeiling,
    MonthlyBudget,
    ProbeFailed,
    ProviderOutage,
    AttemptBudget,
    ConsecutiveFails,
    RejectRate,
    RetryRate,
    /// Items remain that have used up their attempts without an answer from their providers, or
    /// that have no result in a part of the batch.
    Unanswered,
}

/// The rule of [`StopCondition::ConsecutiveFails`] for the baseline.
pub(super) const BASELINE_FAILS: &str = "baseline_consecutive_fails";
pub(super) const CONSECUTIVE_FAILS: &str = "consecutive_fails";

/// Why a batch stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "StopReason"))]
pub struct BatchStopReason {
    pub condition: StopCondition,
    /// A count, a share of 1, or dollars.
    pub value: f64,
    /// In the unit of the value.
    pub threshold: f64,
    /// For people: `Reject rate 37.5% exceeds 30% threshold`.
    pub message: String,
}

impl BatchStopReason {
    /// `None` if the batch continues or is complete.
    pub fn of(evaluation: &Evaluation) -> Option<Self> {
        let Decision::Stop {
            rule,
            value,
            threshold,
            message,
            ..
        } = &evaluation.decision
        else {
            return None;
        };
        let rule = if rule == BASELINE_FAILS {
            CONSECUTIVE_FAILS
        } else {
            rule
        };
        let number = |value: &Value| value.fraction().and_then(|(part, of)| share(part, of));
        Some(Self {
            condition: by_stored_name(&rule.to_ascii_uppercase())?,
            value: number(value.as_ref()?)?,
            threshold: number(threshold)?,
            message: message.clone(),
        })
    }
}
