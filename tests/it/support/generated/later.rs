//! What later versions write beside what this one does: added to some.

use fastrand::Rng;
use serde_json::{Value, json};

const PROJECT_TYPES: [&str; 4] = ["rust", "node", "python", "go"];

/// Adds the keys of later versions to two of three; to those that ended after Round 2, always.
pub(super) fn add(record: &mut Value, ended_early: bool, chance: &mut Rng) {
    if !ended_early && chance.u8(..3) == 0 {
        return;
    }
    let perspectives = record["perspectives"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let has_verdict = record["recommendation"].is_string();
    let heard: Vec<&Value> = perspectives
        .iter()
        .filter(|held| held["changed"].is_boolean())
        .collect();
    let changed = heard.iter().filter(|held| held["changed"] == true).count();
    record["project_context"] = if chance.bool() {
        json!({ "project_type": PROJECT_TYPES[chance.usize(..PROJECT_TYPES.len())], "files": 12 })
    } else {
        Value::Null
    };
    record["early_termination"] = json!(ended_early);
    if ended_early {
        record["early_termination_reason"] = json!("high_confidence_after_synthesis");
        record["rounds_completed"] = json!(2);
        record["rounds_skipped"] = json!(2);
        record["estimated_cost_saved"] = json!(f64::from(chance.u32(1..400_000)) / 1e6);
    }
    if !heard.is_empty() && has_verdict {
        let verdict_changed = if chance.u8(..5) == 0 {
            Value::Null
        } else {
            json!(chance.bool())
        };
        match chance.u8(..4) {
            0 => record["debate_value_analysis"]["verdict_changed_after_round_2"] = verdict_changed,
            1 | 2 => {
                let compared = chance.usize(1..=heard.len());
                let moved = chance.usize(..=compared);
                let told = &mut record["debate_value_analysis"];
                told["status"] = json!("compared");
                told["agents_compared"] = json!(compared);
                told["agents_changed_position"] = json!(moved);
                told["change_rate"] = json!(share(moved, compared));
                told["verdict_changed_after_round_2"] = verdict_changed;
            }
            // As other programs have it.
            _ => {
                record["verdict_changed_after_round_2"] = verdict_changed;
                record["debate_value_analysis"] = json!({
                    "agents_changed_position": changed,
                    "total_agents": heard.len(),
                    "change_rate": share(changed, heard.len()),
                    "avg_confidence_increase": 0.04,
                    "key_influencers": [],
                    "convergence_score": 0.82,
                    "semantic_comparison_cost": 0.0012,
                });
            }
        }
    }
}

fn share(some: usize, all: usize) -> f64 {
    f64::from(u8::try_from(some).unwrap()) / f64::from(u8::try_from(all).unwrap())
}
