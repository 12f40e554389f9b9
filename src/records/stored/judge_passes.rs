//! Reads what a record says of a judge that was asked twice.

use crate::domain::ids::SeatId;
use crate::domain::second_pass::{Held, SecondPass};

use super::artifacts::{self, Seats};
use super::fields::Fields;

/// `None` of a record whose judge was asked once.
pub(super) fn second_pass(record: Fields<'_>, seats: Seats<'_>) -> Option<SecondPass> {
    let told = record.at("judge_passes");
    told.count("passes").filter(|passes| *passes > 1)?;
    let second = told.at("second");
    let orders = told
        .get("expert_orders")
        .and_then(|orders| serde_json::from_value::<Vec<Vec<SeatId>>>(orders.clone()).ok());
    Some(SecondPass {
        verdict: second
            .object("verdict")
            .map(|_| artifacts::verdict(second.at("verdict"), seats)),
        model: second.text("model").and_then(|model| model.parse().ok()),
        expert_order: orders
            .and_then(|orders| orders.into_iter().nth(1))
            .unwrap_or_default(),
        held: held(told),
    })
}

/// Whether an earlier verdict held when its answers were judged anew; `None` of a record that
/// judged its own.
pub(super) fn rejudged(record: Fields<'_>) -> Option<Held> {
    record
        .object("rejudged")
        .map(|_| held(record.at("rejudged")))
}

fn held(told: Fields<'_>) -> Held {
    Held {
        consistent: told.flag("consistent"),
        magnitude: told.word("magnitude"),
        reason: told.said("reason"),
    }
}
