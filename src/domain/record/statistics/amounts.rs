//! Costs under their names in the JSON: in dollars, in micro-dollars beside it, and whether more
//! comes on top.

use serde::Serialize;

use crate::domain::cost::money::{Cost, MicroUsd};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(remote = "Cost")]
pub(super) struct ItsCost {
    #[cfg_attr(test, schemars(range(min = 0)))]
    #[serde(getter = "dollars")]
    cost: f64,
    #[serde(rename = "cost_micro_usd")]
    known: MicroUsd,
    /// True if an unpriced or unreported part comes on top.
    lower_bound: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(remote = "Cost")]
pub(super) struct TotalCost {
    #[cfg_attr(test, schemars(range(min = 0)))]
    #[serde(getter = "dollars")]
    total: f64,
    #[serde(rename = "total_micro_usd")]
    known: MicroUsd,
    /// True if an unpriced or unreported part comes on top.
    lower_bound: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(remote = "Cost")]
pub(super) struct SavedCost {
    /// The estimated cost of the skipped Rounds 3 and 4.
    #[cfg_attr(test, schemars(range(min = 0)))]
    #[serde(getter = "dollars")]
    saved: f64,
    #[serde(rename = "saved_micro_usd")]
    known: MicroUsd,
    /// True if an unpriced or unreported part comes on top.
    lower_bound: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(remote = "Cost")]
pub(super) struct LaterCost {
    /// The cost of Rounds 3 and 4 in the compared consultations.
    #[cfg_attr(test, schemars(range(min = 0)))]
    #[serde(getter = "dollars")]
    later_rounds_cost: f64,
    #[serde(rename = "later_rounds_cost_micro_usd")]
    known: MicroUsd,
    /// True if an unpriced or unreported part comes on top.
    lower_bound: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(remote = "Cost")]
pub(super) struct MonthCost {
    /// The cost of the calendar month of the range's last day, or of today.
    #[cfg_attr(test, schemars(range(min = 0)))]
    #[serde(getter = "dollars")]
    month: f64,
    #[serde(rename = "month_micro_usd")]
    known: MicroUsd,
    /// True if an unpriced or unreported part comes on top.
    lower_bound: bool,
}

fn dollars(cost: &Cost) -> f64 {
    cost.known.usd()
}
