//! `cost:…`: what ends, or may end, a consultation because of its cost.

use serde::{Deserialize, Serialize};

use crate::consultation::policy::estimate::GateReason;
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::{Cost, MicroUsd};

/// What ends, or may end, a consultation because of its cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum CostEvent {
    /// The estimate needs consent.
    #[serde(rename = "cost:gate_triggered")]
    GateTriggered {
        /// What is expected.
        cost: Cost,
        /// Estimates below this need no consent.
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
        /// The purpose of the call, where the ceiling is not the consultation's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<AnswerKind>,
    },
}
