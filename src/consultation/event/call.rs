//! `call:…`: one request to one model, from going out to coming back.

use serde::{Deserialize, Serialize};

use crate::consultation::policy::hedging::NoHedge;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{FailureClass, StopReason};
use crate::consultation::reading::problem::Problem;
use crate::domain::ids::{AgentId, CallId, ModelRef};
use crate::domain::money::Cost;
use crate::domain::pricing::CostSource;
use crate::domain::tokens::Usage;

use super::AbortReason;

/// What happens to one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum CallEvent {
    /// A call is about to go out.
    #[serde(rename = "call:started")]
    Started {
        call: CallId,
        agent_id: AgentId,
        /// 1 to 4.
        round_number: u8,
        answer: AnswerKind,
        purpose: Purpose,
        model: ModelRef,
        /// The most tokens that the answer may take, thinking included.
        #[serde(alias = "room")]
        max_output_tokens: u64,
        /// SHA-256 of the whole prompt, in hexadecimal.
        prompt_sha256: String,
        /// The most that it can cost, reserved under a ceiling; `None` without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worst_case: Option<Cost>,
        /// Tokens (estimated) that the prompt would have had on top, had the artifacts in it not
        /// been filtered.
        #[serde(default, skip_serializing_if = "is_zero")]
        tokens_saved: u64,
    },
    /// A failed call is tried again.
    #[serde(rename = "call:retried")]
    Retried {
        /// The call that failed.
        call: CallId,
        agent_id: AgentId,
        /// Milliseconds until the next call may go out.
        wait_ms: u64,
        /// What failed, for people.
        reason: String,
    },
    /// A call has shown no sign of an answer for so long that another model is asked as well.
    #[serde(rename = "call:hedged")]
    Hedged {
        /// The slow call.
        call: CallId,
        agent_id: AgentId,
        /// The slow model.
        model: ModelRef,
        /// The model that is asked as well.
        backup: ModelRef,
        /// Milliseconds that the slow call has been under way.
        after_ms: u64,
    },
    /// A call is slow, and no other model is asked.
    #[serde(rename = "call:not_hedged")]
    NotHedged {
        /// The slow call.
        call: CallId,
        agent_id: AgentId,
        reason: NoHedge,
    },
    /// A call's connection is dropped; its answer does not count any more.
    #[serde(rename = "call:cancelled")]
    Cancelled { call: CallId, reason: CancelReason },
    /// A call came back, with an answer or a failure.
    #[serde(rename = "call:finished")]
    Finished(Box<CallFinished>),
}

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The first try.
    Answer,
    /// The same again after a transient failure.
    Retry,
    /// The same again in a form that the model accepts.
    Reformed,
    /// The same again with twice the token limit, after an answer that was cut off.
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

/// A call that came back: its answer or failure, tokens and cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallFinished {
    pub call: CallId,
    pub agent_id: AgentId,
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
    /// What was wrong with the text and how it was read.
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
    /// True when the provider reported the usage all the same.
    #[serde(default, rename = "usage_told")]
    pub usage_reported: bool,
}

/// Why a call was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// Another model was faster.
    HedgeLost,
    /// The wait was long enough, and the consultation continues without it.
    TooLate,
    /// The consultation ends.
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
