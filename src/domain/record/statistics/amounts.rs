//! Costs under their names in the JSON: in dollars, in micro-dollars beside it, and whether more
//! comes on top.

use serde::Serialize;

use crate::domain::cost::money::{Cost, MicroUsd};

/// A [`Cost`] as JSON: the type, the name in dollars with what it is, and the name in micro-dollars.
macro_rules! named_cost {
    ($form:ident, $(#[$meaning:meta])* $dollars:literal, $micro_dollars:literal) => {
        #[derive(Serialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(remote = "Cost")]
        pub(super) struct $form {
            $(#[$meaning])*
            #[cfg_attr(test, schemars(range(min = 0)))]
            #[serde(rename = $dollars, getter = "dollars")]
            dollars: f64,
            #[serde(rename = $micro_dollars)]
            known: MicroUsd,
            /// True if an unpriced or unreported part comes on top.
            lower_bound: bool,
            /// True if a plan pays for a part, which has no price and is left out.
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            by_plan: bool,
        }
    };
}

named_cost!(ItsCost, "cost", "cost_micro_usd");
named_cost!(TotalCost, "total", "total_micro_usd");
named_cost!(
    SavedCost,
    /// The estimated cost of the skipped Rounds 3 and 4.
    "saved",
    "saved_micro_usd"
);
named_cost!(
    LaterCost,
    /// The cost of Rounds 3 and 4 in the compared consultations.
    "later_rounds_cost",
    "later_rounds_cost_micro_usd"
);
named_cost!(
    MonthCost,
    /// The cost of the calendar month of the range's last day, or of today.
    "month",
    "month_micro_usd"
);

fn dollars(cost: &Cost) -> f64 {
    cost.known.usd()
}
