//! `pulse:…`: reports of slow rounds and the decision to keep waiting; and the person's answers to all
//! questions.

use serde::{Deserialize, Serialize};

use crate::domain::ids::AgentId;
use crate::domain::money::MicroUsd;

/// Event of a slow round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum PulseEvent {
    /// A round is slow; if a person can be asked, they are asked whether to keep waiting.
    #[serde(rename = "pulse:asked")]
    Asked {
        /// 1 to 4.
        round_number: u8,
        /// The agents whose answers are missing.
        waiting: Vec<StillWaiting>,
        /// Milliseconds since the consultation began, without pauses.
        elapsed_ms: u64,
        /// False if there is no person, or another question is open.
        asked: bool,
    },
    /// The question whether to keep waiting was answered or withdrawn.
    #[serde(rename = "pulse:answered")]
    Answered {
        /// 1 to 4.
        round_number: u8,
        answer: PulseAnswer,
        /// Milliseconds since the consultation began, without pauses.
        elapsed_ms: u64,
    },
}

/// An agent whose answer is still missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StillWaiting {
    pub agent_id: AgentId,
    pub name: String,
    pub elapsed_ms: u64,
}

/// The result of a pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PulseAnswer {
    Continue,
    /// The agents in question were left out.
    GoOnWithout,
    Cancel,
    /// An answer arrived while the question was open.
    Superseded,
}

/// The person's answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Yes,
    No,
    /// Yes, now and for every later estimate below this amount, which has been saved.
    Always(MicroUsd),
    /// No, and end the consultation.
    Fail,
    /// Wait no longer for the agents in question, and continue with the others.
    GoOnWithout,
    /// The person has left without answering.
    Gone,
}
