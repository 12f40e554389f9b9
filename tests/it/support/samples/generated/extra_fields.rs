//! Fields that other versions write: added to some records.

use fastrand::Rng;
use serde_json::{Value, json};

const PROJECT_TYPES: [&str; 4] = ["rust", "node", "python", "go"];

/// Adds the fields to two thirds of the records, and to all that ended after Round 2.
pub(super) fn add(record: &mut Value, ended_early: bool, rng: &mut Rng) {
    if !ended_early && rng.u8(..3) == 0 {
        return;
    }
    let perspectives = record["perspectives"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let has_verdict = record["recommendation"].is_string();
    let revised: Vec<&Value> = perspectives
        .iter()
        .filter(|perspective| perspective["revised_opinion"].is_string())
        .collect();
    record["project_context"] = if rng.bool() {
        json!({ "project_type": PROJECT_TYPES[rng.usize(..PROJECT_TYPES.len())], "files": 12 })
    } else {
        Value::Null
    };
    if record["project_context"].is_object() {
        record["context"] = context(record);
    }
    if record["cost"]["caching"].is_object() {
        let saved = rng.i64(-20_000..400_000);
        record["cost"]["caching"]["saved_micro_usd"] = json!(saved);
        record["cost"]["caching"]["incomplete"] = json!(saved % 2 == 0);
    }
    record["early_termination"] = json!(ended_early);
    if ended_early {
        record["early_termination_reason"] = json!("high_confidence_after_synthesis");
        record["rounds_completed"] = json!(2);
        record["rounds_skipped"] = json!(2);
        record["estimated_cost_saved"] = json!(f64::from(rng.u32(1..400_000)) / 1e6);
    }
    if !revised.is_empty() && has_verdict {
        let verdict_changed = if rng.u8(..5) == 0 {
            Value::Null
        } else {
            json!(rng.bool())
        };
        match rng.u8(..4) {
            0 => record["debate_value_analysis"]["verdict_changed_after_round_2"] = verdict_changed,
            1 | 2 => {
                let compared = rng.usize(1..=revised.len());
                let moved = rng.usize(..=compared);
                let held = record["perspectives"].as_array_mut().unwrap().iter_mut();
                let held = held.filter(|held| held["revised_opinion"].is_string());
                for (at, perspective) in held.take(compared).enumerate() {
                    perspective["changed"] = json!(at < moved);
                }
                let analysis = &mut record["debate_value_analysis"];
                analysis["status"] = json!("compared");
                analysis["agents_compared"] = json!(compared);
                analysis["agents_changed_position"] = json!(moved);
                analysis["change_rate"] = json!(share(moved, compared));
                analysis["verdict_changed_after_round_2"] = verdict_changed;
            }
            _ => {
                record["debate_value_analysis"] = json!({
                    "status": "failed",
                    "agents_compared": 0,
                    "total_agents": revised.len(),
                    "avg_confidence_increase": 0.04,
                    "key_influencers": [],
                    "convergence_score": 0.82,
                    "verdict_changed_after_round_2": verdict_changed,
                    "semantic_comparison_cost": { "usd": 0.0012, "micro_usd": 1_200 },
                });
            }
        }
    }
}

/// Returns a context that is as large as the question is long.
fn context(record: &Value) -> Value {
    let size = record["question"].as_str().unwrap_or_default().len();
    json!({
        "sources": [{
            "kind": "project",
            "name": ".",
            "bytes": 400 * size,
            "tokens": 100 * size,
            "sha256": "c0".repeat(32),
        }],
        "bytes": 400 * size + 20,
        "tokens": 100 * size + 5,
        "counted_by": "ratio",
        "sha256": "c1".repeat(32),
    })
}

fn share(part: usize, all: usize) -> f64 {
    f64::from(u8::try_from(part).unwrap()) / f64::from(u8::try_from(all).unwrap())
}
