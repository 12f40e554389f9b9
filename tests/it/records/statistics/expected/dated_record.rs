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

    /// Returns for each compared expert whether it changed its position. Without a comparison, each
    /// final perspective states it; where none does, an analysis added later.
    pub(super) fn changes(&self) -> Vec<bool> {
        let stated: Vec<bool> = self
            .perspectives()
            .filter_map(|held| held["changed"].as_bool())
            .collect();
        match &self.record["debate_value_analysis"] {
            analysis if analysis["status"] == "compared" => {
                let changed = analysis["agents_changed_position"].as_u64().unwrap();
                (0..analysis["agents_compared"].as_u64().unwrap())
                    .map(|expert| expert < changed)
                    .collect()
            }
            analysis if analysis["status"].is_string() => Vec::new(),
            Value::Object(analysis) if stated.is_empty() => {
                let changed = analysis["agents_changed_position"].as_u64().unwrap();
                (0..analysis["total_agents"].as_u64().unwrap())
                    .map(|expert| expert < changed)
                    .collect()
            }
            _ => stated,
        }
    }

    pub(super) fn rises(&self) -> Vec<f64> {
        let heard: Vec<&Value> = self
            .perspectives()
            .filter(|held| !held["changed"].is_null())
            .collect();
        match self.record["debate_value_analysis"]["avg_confidence_increase"].as_f64() {
            Some(rise)
                if heard.is_empty()
                    && !self.record["debate_value_analysis"]["status"].is_string() =>
            {
                vec![rise; self.changes().len()]
            }
            _ => heard
                .iter()
                .filter_map(|held| {
                    Some(held["revised_confidence"].as_f64()? - held["confidence"].as_f64()?)
                })
                .collect(),
        }
    }

    fn perspectives(&self) -> impl Iterator<Item = &Value> {
        self.record["perspectives"].as_array().into_iter().flatten()
    }

    pub(super) fn verdict_changed(&self) -> Option<bool> {
        let stated = &self.record["verdict_changed_after_round_2"];
        stated.as_bool().or_else(|| {
            self.record["debate_value_analysis"]["verdict_changed_after_round_2"].as_bool()
        })
    }

    pub(super) fn later_rounds(&self) -> Cost {
        if let Some(analysed) = cost(&self.record["debate_value_analysis"]["rounds_3_4_cost"]) {
            return analysed;
        }
        let by_round = &self.record["cost"]["by_round"];
        ["round_3", "round_4"]
            .into_iter()
            .filter(|round| {
                by_round.get(round).is_some() || self.record["responses"].get(round).is_some()
            })
            .map(|round| cost(&by_round[round]).unwrap_or(Cost::at_least(MicroUsd(0))))
            .sum()
    }
}

pub(super) fn cost(value: &Value) -> Option<Cost> {
    Some(Cost {
        known: MicroUsd(value["micro_usd"].as_u64()?),
        lower_bound: value["lower_bound"].as_bool().unwrap(),
    })
}
