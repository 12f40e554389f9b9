//! One record, read for the count.

use conclave::domain::money::{Cost, MicroUsd};
use jiff::civil::Date;
use serde_json::Value;

/// A record with its start time and local date.
pub(super) struct DatedRecord<'a> {
    pub(super) record: &'a Value,
    pub(super) at: i64,
    pub(super) date: Date,
}

impl DatedRecord<'_> {
    pub(super) fn state(&self) -> &str {
        self.record["state"].as_str().unwrap()
    }

    pub(super) fn id(&self) -> String {
        self.record["consultation_id"].as_str().unwrap().to_owned()
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.record[key].as_f64()
    }

    pub(super) fn cost(&self) -> Option<Cost> {
        cost(&self.record["cost"])
    }

    pub(super) fn attempts(&self) -> Vec<&Value> {
        let rounds = self.record["responses"].as_object().unwrap().values();
        let agents = rounds.flat_map(|round| round["agents"].as_array().unwrap());
        agents
            .flat_map(|agent| agent["attempts"].as_array().unwrap())
            .collect()
    }

    /// Returns for each compared expert whether it changed its position.
    pub(super) fn changes(&self) -> Vec<bool> {
        let number = |key: &str| self.record["debate_value_analysis"][key].as_u64();
        let changed = number("agents_changed_position").unwrap_or_default();
        let compared = number("agents_compared").unwrap_or_default();
        (0..compared).map(|expert| expert < changed).collect()
    }

    pub(super) fn rises(&self) -> Vec<f64> {
        self.perspectives()
            .filter(|held| !held["changed"].is_null())
            .filter_map(|held| {
                Some(held["revised_confidence"].as_f64()? - held["confidence"].as_f64()?)
            })
            .collect()
    }

    fn perspectives(&self) -> impl Iterator<Item = &Value> {
        self.record["perspectives"].as_array().into_iter().flatten()
    }

    pub(super) fn verdict_changed(&self) -> Option<bool> {
        self.record["debate_value_analysis"]["verdict_changed_after_round_2"].as_bool()
    }

    pub(super) fn later_rounds(&self) -> Cost {
        cost(&self.record["debate_value_analysis"]["rounds_3_4_cost"]).unwrap_or_default()
    }
}

pub(super) fn cost(value: &Value) -> Option<Cost> {
    Some(Cost {
        known: MicroUsd(value["micro_usd"].as_u64()?),
        lower_bound: value["lower_bound"].as_bool().unwrap(),
    })
}
