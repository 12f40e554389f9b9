//! Cost and tokens of consultations.

use serde::{Deserialize, Serialize};

use crate::domain::cost::money::{Cost, MicroUsd};

use super::StoredRecord;

/// Cost and tokens of any number of consultations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConsultationSpend {
    pub cost: Cost,
    /// What counts under ceilings beyond the known cost.
    #[serde(default, skip_serializing_if = "MicroUsd::is_zero")]
    pub in_doubt: MicroUsd,
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// True if a provider did not report its tokens.
    pub estimated: bool,
}

impl ConsultationSpend {
    /// Calls whose cost is unknown at the most they can cost.
    pub fn counted(&self) -> MicroUsd {
        self.cost.known + self.in_doubt
    }

    pub fn add(&mut self, other: &Self) {
        self.cost += other.cost;
        self.in_doubt += other.in_doubt;
        self.calls = self.calls.saturating_add(other.calls);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.estimated |= other.estimated;
    }
}

pub fn spend<'a>(records: impl IntoIterator<Item = &'a StoredRecord>) -> ConsultationSpend {
    let mut sum = ConsultationSpend::default();
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
        sum.in_doubt += cost.in_doubt_micro_usd;
        add(&mut sum.calls, cost.total.calls);
        add(&mut sum.input_tokens, cost.total.tokens.input);
        add(&mut sum.output_tokens, cost.total.tokens.output);
        sum.estimated |= cost.total.tokens.estimated;
    }
    sum
}
