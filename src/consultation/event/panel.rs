//! `panel:…`: the personas chosen for the question.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{ModelRef, SeatId};
use crate::domain::panel::Panel;

/// Event of the panel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum PanelEvent {
    /// The personas were selected for the question.
    #[serde(rename = "panel:cast")]
    PersonasSelected(Box<PanelSelection>),
}

/// The personas selected for the question, and the new panel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelSelection {
    pub panel: Panel,
    /// The new seats in the order of their labels `Expert A`, `Expert B`, …
    pub expert_order: Vec<SeatId>,
    /// The kind of task; empty if unknown.
    pub task_type: String,
    /// The reason for these personas; empty if none was given.
    pub reason: String,
    /// The model that selected them; `None` if the default personas sit without a selection.
    pub chosen_by: Option<ModelRef>,
    /// Parts of the answer that were not used, and why there was no selection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
