//! The expected cost of a consultation, and how consent to it was given.

use serde::{Deserialize, Serialize};

use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::cost::money::Cost;
use crate::domain::ids::{AgentId, ModelRef};

/// Reason why an estimate needs consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// It would be the first cost that the person has agreed to.
    FirstCost,
}

/// The expected tokens and cost of a consultation, from the prompts as they will be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    pub cost: Cost,
    /// The lowest cost with answers of usual length.
    pub low: Cost,
    /// The highest cost with answers of usual length, without retries, repairs and hedges.
    pub high: Cost,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Tokens of question and context, which are part of every call.
    pub context_tokens: u64,
    pub calls: Vec<CallEstimate>,
}

impl Estimate {
    /// Returns the number of calls that a plan pays for.
    pub fn plan_calls(&self) -> usize {
        let calls = self.calls.iter();
        calls.filter(|call| call.cost.by_plan).count()
    }

    pub fn add(&mut self, call: CallEstimate) {
        self.cost += call.cost;
        self.low += call.low;
        self.high += call.high;
        self.input_tokens += call.input_tokens;
        self.output_tokens += call.output_tokens;
        self.calls.push(call);
    }
}

/// One expected call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallEstimate {
    pub round_number: u8,
    pub agent_id: AgentId,
    pub answer: AnswerKind,
    pub model: ModelRef,
    /// Expected, with the schema and the answers that the call will carry.
    pub input_tokens: u64,
    /// Expected, with thinking.
    pub output_tokens: u64,
    pub cost: Cost,
    pub low: Cost,
    pub high: Cost,
    /// What a ceiling must have left for the call: the most that it can cost with the lowest output
    /// limit.
    #[serde(default)]
    pub least_reserve: Cost,
}

/// The way in which consent was given or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// The estimate is below `always_allow_under`, or everything is free.
    AutoApproved,
    /// `--yes`.
    Flag,
    /// The user set a ceiling above the estimate.
    Ceiling,
    /// The user answered the question.
    Asked,
    /// No person could be asked.
    NobodyToAsk,
}
