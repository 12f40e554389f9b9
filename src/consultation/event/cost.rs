//! `cost:…`: limits on cost that end a consultation or need consent.

use serde::{Deserialize, Serialize};

use crate::consultation::policy::estimate::GateReason;
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::{Cost, MicroUsd};

/// Event of a cost limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum CostEvent {
    /// The estimate needs consent.
    #[serde(rename = "cost:gate_triggered")]
    GateTriggered {
        /// The expected cost.
        cost: Cost,
        /// Estimates below this need no consent.
        always_allow_under: MicroUsd,
        why: Vec<GateReason>,
    },
    /// A call was not made because it could exceed the ceiling.
    #[serde(rename = "cost:ceiling_reached")]
    CeilingReached(CeilingReached),
}

/// A call that was not made because it could exceed a ceiling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CeilingReached {
    /// The ceiling.
    pub max_cost: MicroUsd,
    /// What counts as spent so far.
    pub spent: Cost,
    pub agent_id: AgentId,
    pub model: ModelRef,
    /// The most that the call could have cost.
    pub worst_case: Cost,
    /// The ceiling's name if it is not the consultation's own: `monthly budget`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// The kind of answer, if the ceiling is not the consultation's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerKind>,
}
