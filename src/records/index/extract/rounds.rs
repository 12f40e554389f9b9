//! The rows of the rounds that were started.

use std::collections::BTreeSet;

use crate::domain::stored_record::StoredRecord;
use crate::records::index::rows::RoundRow;

/// Returns the rounds in order: those with an agent's work, and those whose calls were all lost. An
/// answer composed from an earlier round makes no round.
pub(super) fn rounds(record: &StoredRecord) -> Vec<RoundRow> {
    let spent = |number: u8| {
        record
            .cost
            .as_ref()?
            .by_round
            .get(&format!("round_{number}"))
    };
    let in_spending = record.cost.iter().flat_map(|cost| cost.by_round.keys());
    let numbers: BTreeSet<u8> = in_spending
        .filter_map(|round| round.strip_prefix("round_")?.parse().ok())
        .chain(record.agent_rounds().map(|(number, _)| number))
        .collect();
    let row = |number| RoundRow {
        round_number: number,
        round_type: match number {
            1 => "independent",
            2 => "synthesis",
            3 => "cross_exam",
            4 => "verdict",
            _ => "other",
        },
        duration_ms: record
            .rounds()
            .find(|(round, _)| *round == number)
            .and_then(|(_, round)| round.duration_ms),
        tokens_used: spent(number).and_then(|spent| spent.tokens.total),
        cost: spent(number).and_then(|spent| spent.amount.cost()),
    };
    numbers.into_iter().map(row).collect()
}
