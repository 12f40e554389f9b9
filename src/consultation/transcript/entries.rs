//! Entries of a transcript beside artifacts and calls: failures, substitutions, hedges, ceilings
//! and aborts.

use std::time::Duration;

use crate::consultation::event::{AbortReason, AgentError, StateName, SubstitutionReason};
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::{Cost, MicroUsd};

/// An agent that has no answer in one round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFailure {
    pub agent_id: AgentId,
    pub name: String,
    pub round_number: u8,
    pub error: AgentError,
}

/// A model that took over an agent's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substitution {
    pub agent_id: AgentId,
    pub round_number: u8,
    pub original: ModelRef,
    pub substitute: ModelRef,
    pub reason: SubstitutionReason,
    /// The failure, in the provider's own words.
    pub message: String,
}

/// A slow call that was hedged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hedge {
    pub agent_id: AgentId,
    pub round_number: Option<u8>,
    pub model: ModelRef,
    pub backup: ModelRef,
    pub after: Duration,
    /// The slower of the two models, whose call was dropped.
    pub dropped: Option<ModelRef>,
}

/// A call that was not made because it could have exceeded the ceiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ceiling {
    pub max_cost: MicroUsd,
    pub spent: Cost,
    pub agent_id: AgentId,
    pub model: ModelRef,
    /// The most that the call could have cost.
    pub worst_case: Cost,
    /// The ceiling's name if it is not the consultation's own.
    pub budget: Option<String>,
}

/// The end of a consultation without a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abort {
    pub reason: AbortReason,
    pub message: String,
    pub during: StateName,
}
