//! The earlier consultation that a question follows up, as far as the prompts of every round quote
//! it: question, answer, dissent and positions. It quotes its direct predecessor only, so that a
//! long conversation stays bounded.

use serde::{Deserialize, Serialize};

use crate::consultation::anonymity::labels::Labels;
use crate::domain::answer::artifact::Verdict;
use crate::domain::answer::confidence::Confidence;
use crate::domain::ids::{ConsultationId, SeatId};

/// An earlier consultation as material for a new one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriorConsultation {
    pub id: ConsultationId,
    pub question: String,
    /// The labels that its texts use for its experts.
    pub labels: Labels,
    /// The last position of each expert that answered.
    pub positions: Vec<PriorPosition>,
    /// The answer with its dissent; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// The position that an expert held at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriorPosition {
    pub agent_id: SeatId,
    pub position: String,
    pub confidence: Option<Confidence>,
}
