//! A slow call that was hedged.

use crate::domain::ids::{AgentId, ModelRef};

/// A slow call that was hedged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hedge {
    pub agent_id: AgentId,
    pub round_number: Option<u8>,
    pub model: ModelRef,
    pub backup: ModelRef,
    /// Milliseconds after which the backup was asked.
    pub after_ms: u64,
    /// The slower of the two models, whose call was dropped.
    pub dropped: Option<ModelRef>,
}
