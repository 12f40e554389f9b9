//! Reads the rounds that were started from a record.

use std::collections::BTreeSet;

use crate::domain::money::{Cost, MicroUsd};

use crate::records::index::lenient_json::{Flag, Whole};
use crate::records::index::record_fields::RecordFields;
use crate::records::index::rows::RoundRow;

/// Returns the rounds in order: those with an agent's work, and those whose calls were all lost. An
/// answer composed from an earlier round makes no round.
pub(super) fn rounds(record: &RecordFields<'_>) -> Vec<RoundRow> {
    let spending = record.cost.0.as_ref().map(|cost| &cost.by_round);
    let in_spending = spending
        .iter()
        .flat_map(|rounds| &rounds.0)
        .map(|(number, _)| *number);
    let in_responses = record
        .responses
        .0
        .iter()
        .filter(|(_, round)| !round.agents.all().is_empty())
        .map(|(number, _)| *number);
    let numbers: BTreeSet<u8> = in_responses.chain(in_spending).collect();
    let row = |number| {
        let spent = spending.and_then(|rounds| rounds.of(number));
        RoundRow {
            round_number: number,
            round_type: round_type(number),
            duration_ms: record
                .responses
                .of(number)
                .and_then(|round| round.duration_ms.0),
            tokens_used: spent.and_then(|spent| spent.tokens.0.as_ref()?.total.0),
            cost: spent.and_then(|spent| money(spent.micro_usd, spent.lower_bound)),
        }
    };
    numbers.into_iter().map(row).collect()
}

fn round_type(number: u8) -> &'static str {
    match number {
        1 => "independent",
        2 => "synthesis",
        3 => "cross_exam",
        4 => "verdict",
        _ => "other",
    }
}

/// Returns the cost of Rounds 3 and 4 together; `None` when neither was started. A round without a
/// stated cost makes it a lower bound.
pub(super) fn later_rounds(rounds: &[RoundRow]) -> Option<Cost> {
    let later: Vec<Cost> = rounds
        .iter()
        .filter(|round| matches!(round.round_number, 3 | 4))
        .map(|round| round.cost.unwrap_or(Cost::at_least(MicroUsd::ZERO)))
        .collect();
    (!later.is_empty()).then(|| later.into_iter().sum())
}

/// Returns an amount as a record writes it.
pub(super) fn money(micro_usd: Whole, lower_bound: Flag) -> Option<Cost> {
    micro_usd.0.map(|known| Cost {
        known: MicroUsd(known),
        lower_bound: lower_bound.0 == Some(true),
    })
}
