//! A call that came back.

use serde::{Deserialize, Serialize};

use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{FailureClass, StopReason};
use crate::consultation::reading::problem::Problem;
use crate::domain::ids::{CallId, ModelRef, SeatId};
use crate::domain::money::Cost;
use crate::domain::tokens::Usage;

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The first try.
    Answer,
    /// The same again after a failure that may pass.
    Retry,
    /// The same again in a form that the model takes.
    Reformed,
    /// The same again with twice the room, after an answer that was cut off.
    MoreRoom,
    /// The model is shown its text and what is wrong with it.
    Repair,
    /// The first try at the model that takes over.
    Fallback,
    /// The same again elsewhere, beside a call that is slow.
    Hedge,
    /// The same again after the call was lost with its process.
    Resumed,
}

/// Why an agent has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentError {
    /// `None` when the model answered but declined.
    pub class: Option<FailureClass>,
    /// In the provider's own words.
    pub message: String,
}

/// All about a call that came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallFinished {
    pub call: CallId,
    pub agent_id: SeatId,
    pub round_number: u8,
    pub answer: AnswerKind,
    pub purpose: Purpose,
    pub model: ModelRef,
    /// The model that the provider says answered.
    pub served_model: Option<String>,
    /// `None` when the call failed.
    pub stop: Option<StopReason>,
    /// `None` when the call succeeded.
    pub error: Option<CallError>,
    /// The model's text, whole.
    pub text: String,
    pub tokens: Usage,
    pub cost: Cost,
    pub cost_source: CostSource,
    /// From the call to the first sign of an answer.
    pub first_token_ms: Option<u64>,
    pub duration_ms: u64,
    /// What was wrong with the text and what was made of it.
    pub problems: Vec<Problem>,
}

/// A failed call, as it is logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    pub class: FailureClass,
    pub message: String,
    /// The provider's hint when to come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// True when the provider said what was used all the same.
    #[serde(default)]
    pub usage_told: bool,
}

/// Where a cost figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The provider said it.
    Provider,
    /// Computed from the price table.
    Table,
    /// The model runs on the user's own machine.
    Free,
    /// No price is known, or the provider did not say what was used.
    Unknown,
}
