//! `call:…`: one request to one model, from start to finish.

use serde::{Deserialize, Serialize};

use crate::consultation::policy::hedging::NoHedge;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::StopReason;
use crate::consultation::reading::problem::Problem;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::cost::plan_use::PlanUse;
use crate::domain::cost::pricing::CostSource;
use crate::domain::cost::tokens::Usage;
use crate::domain::ids::{AgentId, CallId, ModelRef};

use super::{AbortReason, CallError};

/// Event of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum CallEvent {
    /// A call is about to go out.
    #[serde(rename = "call:started")]
    Started(CallStarted),
    /// The answer of a call begins, be it with thoughts.
    #[serde(rename = "call:first_token")]
    FirstToken { call: CallId },
    /// A failed call is tried again.
    #[serde(rename = "call:retried")]
    Retried {
        /// The call that failed.
        call: CallId,
        agent_id: AgentId,
        /// Milliseconds until the next call may go out.
        wait_ms: u64,
        /// The failure, for people.
        reason: String,
        /// The attempt that comes next; `None` if it is no retry of the same request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptNumber>,
    },
    /// A slow call is hedged: another model is asked as well.
    #[serde(rename = "call:hedged")]
    Hedged {
        /// The slow call.
        call: CallId,
        agent_id: AgentId,
        /// The slow model.
        model: ModelRef,
        /// The hedging model.
        backup: ModelRef,
        /// Milliseconds since the slow call began.
        after_ms: u64,
    },
    /// A slow call is not hedged.
    #[serde(rename = "call:not_hedged")]
    NotHedged {
        /// The slow call.
        call: CallId,
        agent_id: AgentId,
        reason: NoHedge,
    },
    /// A call's connection is dropped; its answer no longer counts.
    #[serde(rename = "call:cancelled")]
    Cancelled { call: CallId, reason: CancelReason },
    /// A call came back, with an answer or a failure.
    #[serde(rename = "call:finished")]
    Finished(Box<CallFinished>),
}

/// A call that goes out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallStarted {
    pub call: CallId,
    pub agent_id: AgentId,
    /// 1 to 4.
    pub round_number: u8,
    pub answer: AnswerKind,
    pub purpose: Purpose,
    pub model: ModelRef,
    /// The most tokens that the answer may take, thinking included.
    pub max_output_tokens: u64,
    /// SHA-256 of the whole prompt, in hexadecimal.
    pub prompt_sha256: String,
    /// The most that the call can cost. It counts until the call has finished.
    #[serde(default, skip_serializing_if = "is_free")]
    pub worst_case: Cost,
    /// Estimated tokens saved by filtering the artifacts in the prompt.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_saved: u64,
}

/// The number of an attempt at one answer of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptNumber {
    /// Counted from 1, the first attempt.
    pub number: u32,
    /// The most attempts.
    pub of: u32,
}

/// The purpose of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The first attempt.
    Answer,
    /// Repeats a call after a transient failure.
    Retry,
    /// Repeats a call in a form that the model accepts.
    Reformed,
    /// Repeats a call with twice the token limit after an answer that was cut off.
    MoreRoom,
    /// Asks the model to repair its answer.
    Repair,
    /// The first attempt of a fallback model.
    Fallback,
    /// Repeats a slow call at another model in parallel.
    Hedge,
    /// Repeats a call that was lost with its process.
    Resumed,
}

/// A finished call: its answer or failure, tokens and cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallFinished {
    pub call: CallId,
    pub agent_id: AgentId,
    pub round_number: u8,
    pub answer: AnswerKind,
    pub purpose: Purpose,
    pub model: ModelRef,
    /// The model that answered, as reported by the provider.
    pub served_model: Option<String>,
    /// `None` if the call failed.
    pub stop: Option<StopReason>,
    /// `None` if the call succeeded.
    pub error: Option<CallError>,
    /// The model's whole text.
    pub text: String,
    pub tokens: Usage,
    pub cost: Cost,
    /// What the call counts as under ceilings, if that is not its known cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<MicroUsd>,
    pub cost_source: CostSource,
    /// What the plan that paid for it says of its use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<PlanUse>>,
    /// Milliseconds from the call to the first sign of an answer.
    pub first_token_ms: Option<u64>,
    pub duration_ms: u64,
    /// The problems of the text, and how each was handled.
    pub problems: Vec<Problem>,
}

impl CallFinished {
    pub fn counted(&self) -> MicroUsd {
        self.counted.unwrap_or(self.cost.known)
    }
}

/// Reason for dropping a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// Another model was faster.
    HedgeLost,
    /// The wait was too long; the consultation continues without the call.
    TooLate,
    /// The consultation ended.
    #[serde(untagged)]
    Abort(AbortReason),
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_free(cost: &Cost) -> bool {
    *cost == Cost::FREE
}
