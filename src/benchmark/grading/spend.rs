//! Cost and tokens of the consultations of a case run.

use crate::benchmark::result::CaseSpend;
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::stored_record::StoredRecord;

/// Adds up the records of all attempts and of the grading.
pub fn spend<'a>(records: impl IntoIterator<Item = &'a StoredRecord>) -> CaseSpend {
    let mut sum = CaseSpend::default();
    for record in records {
        // A record without an account may have cost anything.
        let unknown = Cost::at_least(MicroUsd::ZERO);
        sum.cost += record.total_cost().unwrap_or(unknown);
        let Some(cost) = &record.cost else {
            sum.estimated = true;
            continue;
        };
        let add = |sum: &mut u64, count: Option<u64>| {
            *sum = sum.saturating_add(count.unwrap_or_default());
        };
        add(&mut sum.calls, cost.calls);
        add(&mut sum.input_tokens, cost.tokens.input);
        add(&mut sum.output_tokens, cost.tokens.output);
        sum.estimated |= cost.tokens.estimated;
    }
    sum
}
