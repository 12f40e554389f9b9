//! What is fixed before anything is spent, and when an interrupted consultation goes on.

use serde::{Deserialize, Serialize};

use crate::consultation::plan::{Control, Plan};
use crate::domain::ids::{CallId, SeatId};
use crate::domain::panel::Panel;

use super::StateName;

/// The consultation's terms: all that is fixed before anything is spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub question: String,
    pub mode: String,
    pub panel: Panel,
    /// What order and labels of the experts were drawn from.
    pub seed: u64,
    /// The seats in the order in which they are `Expert A`, `Expert B`, … to the judge and to each
    /// other.
    pub expert_order: Vec<SeatId>,
    pub prompts: Vec<PromptUsed>,
    pub tool_version: String,
    /// What the user was told about the panel before anything was spent.
    pub notices: Vec<String>,
    /// All terms, whole, so that an interrupted consultation can go on as it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<Plan>>,
}

/// On what terms an interrupted consultation goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// Where it goes on.
    pub state: StateName,
    /// Calls that were under way when it stopped, and are asked again.
    pub lost_calls: Vec<CallId>,
    pub control: Control,
    pub tool_version: String,
}

/// A template in force, so that an edited prompt is visible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptUsed {
    /// Its file's path without the ending: `converge/independent`.
    pub name: String,
    pub version: String,
    pub sha256: String,
}
