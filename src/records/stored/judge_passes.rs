//! Reads the judge's passes from a record, and whether prior answers were rejudged.

use crate::domain::ids::SeatId;
use crate::domain::second_pass::{Held, SecondPass};

use super::artifacts::{self, Seats};
use super::fields::Fields;

/// Reads the second pass; `None` when the judge was asked once.
pub(super) fn second_pass(record: Fields<'_>, seats: Seats<'_>) -> Option<SecondPass> {
    let fields = record.at("judge_passes");
    fields.count("passes").filter(|passes| *passes > 1)?;
    let second = fields.at("second");
    let orders = fields
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
        held: held(fields),
    })
}

/// Reads whether the earlier verdict held; `None` unless prior answers were rejudged.
pub(super) fn rejudged(record: Fields<'_>) -> Option<Held> {
    record
        .object("rejudged")
        .map(|_| held(record.at("rejudged")))
}

fn held(fields: Fields<'_>) -> Held {
    Held {
        consistent: fields.flag("consistent"),
        magnitude: fields.word("magnitude"),
        reason: fields.nonblank("reason"),
    }
}
