//! The reason why a batch stopped, in the form of the story that asked for it.

use serde::{Deserialize, Serialize};

use crate::stopping::evaluation::{Class, Decision, Evaluation, Value};

/// A condition that stops a batch, in order of priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

impl StopCondition {
    pub const ALL: [Self; 12] = [
        Self::Interrupted,
        Self::Authentication,
        Self::Quota,
        Self::CostCeiling,
        Self::MonthlyBudget,
        Self::ProbeFailed,
        Self::ProviderOutage,
        Self::AttemptBudget,
        Self::ConsecutiveFails,
        Self::RejectRate,
        Self::RetryRate,
        Self::Unanswered,
    ];

    /// Returns its rule's name in an evaluation.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::Authentication => "authentication",
            Self::Quota => "quota",
            Self::CostCeiling => "cost_ceiling",
            Self::MonthlyBudget => "monthly_budget",
            Self::ProbeFailed => "probe_failed",
            Self::ProviderOutage => "provider_outage",
            Self::AttemptBudget => "attempt_budget",
            Self::ConsecutiveFails => "consecutive_fails",
            Self::RejectRate => "reject_rate",
            Self::RetryRate => "retry_rate",
            Self::Unanswered => "unanswered",
        }
    }

    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupted => "INTERRUPTED",
            Self::Authentication => "AUTHENTICATION",
            Self::Quota => "QUOTA",
            Self::CostCeiling => "COST_CEILING",
            Self::MonthlyBudget => "MONTHLY_BUDGET",
            Self::ProbeFailed => "PROBE_FAILED",
            Self::ProviderOutage => "PROVIDER_OUTAGE",
            Self::AttemptBudget => "ATTEMPT_BUDGET",
            Self::ConsecutiveFails => "CONSECUTIVE_FAILS",
            Self::RejectRate => "REJECT_RATE",
            Self::RetryRate => "RETRY_RATE",
            Self::Unanswered => "UNANSWERED",
        }
    }

    pub(super) fn class(self) -> Class {
        match self {
            Self::Interrupted => Class::Cancelled,
            Self::CostCeiling | Self::MonthlyBudget | Self::AttemptBudget => Class::Exhausted,
            Self::Unanswered => Class::Stalled,
            Self::Authentication
            | Self::Quota
            | Self::ProbeFailed
            | Self::ProviderOutage
            | Self::ConsecutiveFails
            | Self::RejectRate
            | Self::RetryRate => Class::Halted,
        }
    }
}

/// The rule of [`StopCondition::ConsecutiveFails`] for the baseline.
pub(super) const BASELINE_FAILS: &str = "baseline_consecutive_fails";

/// Why a batch stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopReason {
    pub condition: StopCondition,
    /// A count, a share of 1, or dollars.
    pub value: f64,
    /// In the unit of the value.
    pub threshold: f64,
    /// For people: `Reject rate 37.5% exceeds 30% threshold`.
    pub message: String,
}

impl StopReason {
    /// Returns the reason of a stop; `None` if the batch continues or is complete.
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
        let condition = if rule == BASELINE_FAILS {
            StopCondition::ConsecutiveFails
        } else {
            let mut conditions = StopCondition::ALL.into_iter();
            conditions.find(|condition| condition.rule() == rule)?
        };
        Some(Self {
            condition,
            value: value.as_ref().and_then(number)?,
            threshold: number(threshold)?,
            message: message.clone(),
        })
    }
}

/// Returns a value as a JSON number.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts and micro-dollars are far below 2^53"
)]
fn number(value: &Value) -> Option<f64> {
    match *value {
        Value::Count(count) => Some(count as f64),
        Value::Share { part, of }
        | Value::Ratio {
            numerator: part,
            denominator: of,
        } => (of > 0).then(|| part as f64 / of as f64),
        Value::Duration { .. } | Value::Word(_) => None,
    }
}
