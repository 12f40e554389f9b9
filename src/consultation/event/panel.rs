//! `panel:…` and `judge:…`: the personas chosen for the question, and the stability of the verdict.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{ModelRef, SeatId};
use crate::domain::panel::Panel;
use crate::domain::second_pass::{Held, SecondPass};

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

/// Event of a second verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum JudgeEvent {
    /// The result of the judge's second pass, with the experts in the opposite order.
    #[serde(rename = "judge:second_pass")]
    SecondPass(Box<SecondPass>),
    /// Whether an earlier consultation's verdict held when its answers were judged again.
    #[serde(rename = "judge:rejudged")]
    Rejudged(Held),
}
