//! What a plan that the user has subscribed to says of the calls that it pays for.

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

/// The use of a plan, as of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanUse {
    /// The plan's name, as its vendor writes it: `max_5x`. `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The window of time whose limit is nearest; `None` if the vendor says nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<PlanWindow>,
    /// The user is billed for the call beside the plan, whose limit is reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_overage: bool,
}

/// A window of time in which a plan allows so much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanWindow {
    /// As people say it: `5 h`, `7 days`.
    pub name: String,
    /// The part that is used, in percent, rounded down; above 100 in overage.
    pub used_percent: u16,
    /// The end of the window, when the plan allows everything again.
    pub resets_at: Option<Timestamp>,
}
