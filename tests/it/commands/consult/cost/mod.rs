//! What a consultation may cost: the preview, the gate before it, and the limits during it.

mod dry_run;
mod gate;
mod ceilings;
mod month_budget;

use serde_json::Value;

/// Asserts that the total equals the sum of all recorded calls and of every grouping, to the
/// micro-dollar and the token, and that it is a lower bound where a cost is unknown, only.
pub(super) fn assert_costs_add_up(record: &Value) {
    let cost = &record["cost"];
    let counts = |spend: &Value| {
        ["/micro_usd", "/tokens/input", "/tokens/output", "/calls"]
            .map(|at| spend.pointer(at).unwrap().as_u64().unwrap())
    };
    let rounds = record["responses"].as_object().unwrap().values();
    let agents: Vec<&Value> = rounds
        .flat_map(|round| round["agents"].as_array().unwrap())
        .collect();
    let attempts: Vec<&Value> = agents
        .iter()
        .flat_map(|agent| agent["attempts"].as_array().unwrap())
        .collect();
    for spends in [&agents, &attempts] {
        let spends = spends.iter().map(|spend| &spend["cost"]["micro_usd"]);
        let sum: u64 = spends.map(|spend| spend.as_u64().unwrap()).sum();
        assert_eq!(sum, counts(cost)[0], "{cost}");
    }
    assert_eq!(attempts.len() as u64, counts(cost)[3]);
    let is_open = |spend: &Value| spend["lower_bound"] == true;
    for group in ["by_provider", "by_model", "by_agent", "by_round"] {
        let parts: Vec<&Value> = cost[group].as_object().unwrap().values().collect();
        let sum = |at: usize| parts.iter().map(|part| counts(part)[at]).sum::<u64>();
        assert_eq!([0, 1, 2, 3].map(sum), counts(cost), "{group}: {cost}");
        let has_open_part = parts.iter().any(|part| is_open(part));
        assert_eq!(has_open_part, is_open(cost), "{group}: {cost}");
    }
    let mut costs = attempts.iter().map(|attempt| &attempt["cost"]);
    let is_unknown = costs.any(is_open) || cost["lost_calls"] != 0;
    assert_eq!(is_open(cost), is_unknown, "{cost}");
}
