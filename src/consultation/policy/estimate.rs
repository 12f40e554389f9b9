//! The expected cost of a consultation, and how consent to it was given.

use serde::{Deserialize, Serialize};

use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::Cost;

/// Why an estimate needs consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateReason {
    /// It is not below `always_allow_under`.
    Cost,
    /// A model has no price.
    Unpriced,
    /// It would exceed the monthly budget.
    MonthlyBudget,
    /// The context is large.
    LargeContext,
}

/// What the consultation is expected to take, from the prompts as they will be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// What is expected.
    pub cost: Cost,
    /// The least that answers of usual length cost. 1.0 had one figure only.
    #[serde(default)]
    pub low: Cost,
    /// The most that answers of usual length cost: without retries, repairs and hedges.
    #[serde(default)]
    pub high: Cost,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Of question and context, which every call carries.
    #[serde(default)]
    pub context_tokens: u64,
    pub calls: Vec<CallEstimate>,
}

/// One expected call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallEstimate {
    pub round_number: u8,
    pub agent_id: AgentId,
    pub answer: AnswerKind,
    pub model: ModelRef,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost: Cost,
    #[serde(default)]
    pub low: Cost,
    #[serde(default)]
    pub high: Cost,
}

/// How consent was given or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// The estimate is below `always_allow_under`, or nothing costs anything.
    AutoApproved,
    /// `--yes`.
    Flag,
    /// The user set a ceiling that the estimate stays below.
    Ceiling,
    /// The user answered the question.
    Asked,
    /// There was no person to ask.
    NobodyToAsk,
}
