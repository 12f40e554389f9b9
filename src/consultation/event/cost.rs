//! `cost:…`: what a consultation is expected to cost, how it came to be agreed to, and its ceiling.

use serde::{Deserialize, Serialize};

use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::{Cost, MicroUsd};

/// What stops, or may stop, a consultation for its cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum CostEvent {
    /// The estimate does not pass by itself.
    #[serde(rename = "cost:gate_triggered")]
    GateTriggered {
        /// What is expected.
        cost: Cost,
        /// Estimates below this pass by themselves.
        always_allow_under: MicroUsd,
        why: Vec<GateReason>,
    },
    /// A call could break the ceiling and was not made.
    #[serde(rename = "cost:ceiling_reached")]
    CeilingReached {
        /// The ceiling.
        max_cost: MicroUsd,
        /// Spent so far.
        spent: Cost,
        agent_id: AgentId,
        model: ModelRef,
        /// The most that the call could have cost.
        worst_case: Cost,
        /// The ceiling's name, where it is not the consultation's own: `monthly budget`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<String>,
        /// What the call was to bring, where the ceiling is not the consultation's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<AnswerKind>,
    },
}

/// Why an estimate does not pass by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateReason {
    /// It is not below `always_allow_under`.
    Cost,
    /// A model has no price.
    Unpriced,
    /// It would bring the month above its budget.
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

/// How consent came about.
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
    /// Nobody could be asked.
    NobodyToAsk,
}
