//! `panel:…`: the personas chosen for the question.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{ModelRef, SeatId};
use crate::domain::panel::Panel;

/// What happens to the panel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum PanelEvent {
    /// The personas were chosen for this question.
    #[serde(rename = "panel:cast")]
    PersonasSelected(Box<PanelSelection>),
}

/// The personas of this question are chosen: the panel in force from here on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelSelection {
    pub panel: Panel,
    /// The new seats in the order in which they are `Expert A`, `Expert B`, …
    pub expert_order: Vec<SeatId>,
    /// What kind of task the question is; empty when unknown.
    pub task_type: String,
    /// The reason for these personas; empty when none was given.
    pub reason: String,
    /// The model that chose; `None` when the usual personas sit without a selection.
    pub chosen_by: Option<ModelRef>,
    /// Parts of the answer that were not used, and why there was no selection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
