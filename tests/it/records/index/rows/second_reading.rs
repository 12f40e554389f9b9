//! An independent reading of our own record into rows, against which the index's reading is
//! checked.

use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::stored_record::Completion;
use conclave::records::index::rows::{
    AgentRole, AgentRow, CallRow, ConsultationRow, DebateColumns, RoundRow, Rows,
};
use serde_json::{Value, json};

/// Returns the rows of our own record, read independently from the whole JSON value.
pub(super) fn read_again(record: &Value) -> Rows {
    let answered = record["recommendation"].is_string();
    let heard = list(&record["perspectives"])
        .iter()
        .filter(|held| held["changed"].is_boolean());
    let rises: Vec<i64> = heard
        .filter_map(|held| {
            Some((
                held["confidence"].as_f64()?,
                held["revised_confidence"].as_f64()?,
            ))
        })
        .map(|(from, to)| millionths(to) - millionths(from))
        .collect();
    let rounds: Vec<RoundRow> = (1..=4_u8)
        .filter(|round| {
            let round = format!("round_{round}");
            !record["cost"]["by_round"][&round].is_null()
                || !list(&record["responses"][&round]["agents"]).is_empty()
        })
        .map(|number| {
            let round = format!("round_{number}");
            let spent = &record["cost"]["by_round"][&round];
            RoundRow {
                round_number: number,
                round_type: ["independent", "synthesis", "cross_exam", "verdict"]
                    [usize::from(number) - 1],
                duration_ms: record["responses"][&round]["duration_ms"].as_u64(),
                tokens_used: spent["tokens"]["total"].as_u64(),
                cost: cost(spent),
            }
        })
        .collect();
    let analysis = &record["debate_value_analysis"];
    let mut calls: Vec<CallRow> = vec![];
    for number in 1..=4_u8 {
        for work in list(&record["responses"][format!("round_{number}")]["agents"]) {
            for attempt in list(&work["attempts"]) {
                let model = attempt["model"].as_str().unwrap().split_once(':').unwrap();
                calls.push(CallRow {
                    call: u32::try_from(attempt["call"].as_u64().unwrap()).unwrap(),
                    round_number: number,
                    agent_id: text(&work["agent_id"]).unwrap(),
                    answer: text(&work["answer"]),
                    purpose: text(&attempt["purpose"]),
                    provider: model.0.to_owned(),
                    model: model.1.to_owned(),
                    stop: text(&attempt["stop"]).or(attempt["stop"]
                        .as_object()
                        .map(|stop| stop.keys().next().unwrap().clone())),
                    failed: !attempt["error"].is_null(),
                    hedge_won: attempt["purpose"] == "hedge" && attempt["error"].is_null(),
                    cost: cost(&attempt["cost"]).unwrap(),
                    input_tokens: attempt["tokens"]["input"].as_u64().unwrap(),
                    output_tokens: attempt["tokens"]["output"].as_u64().unwrap(),
                    tokens_estimated: attempt["tokens"]["estimated"] == true,
                    first_token_ms: attempt["latency_ms"].as_u64(),
                    duration_ms: attempt["duration_ms"].as_u64(),
                });
            }
        }
    }
    calls.sort_by_key(|call| call.call);
    let mut agents: Vec<AgentRow> = list(&record["agents"])
        .iter()
        .map(|seat| agent(record, seat, answered))
        .collect();
    agents.push(AgentRow {
        agent_id: "judge".into(),
        model: text(&record["judge"]["model"]).unwrap(),
        provider: text(&record["judge"]["provider"]).unwrap(),
        role: AgentRole::Judge,
        confidence: record["confidence"].as_f64(),
        agrees: answered.then_some(true),
    });
    Rows {
        consultation: ConsultationRow {
            id: text(&record["consultation_id"]).unwrap(),
            question: text(&record["question"]).unwrap(),
            mode: text(&record["mode"]).unwrap(),
            final_recommendation: text(&record["recommendation"]),
            confidence: record["confidence"].as_f64(),
            cost: cost(&record["cost"]),
            total_tokens: record["cost"]["tokens"]["total"].as_u64(),
            duration_ms: record["duration_ms"].as_u64(),
            created_at: serde_json::from_value(record["timestamp"].clone()).unwrap(),
            schema_version: text(&record["schema_version"]),
            state: text(&record["state"]).unwrap(),
            completion: match record["state"].as_str().unwrap() {
                "Complete" => Completion::Completed,
                "Aborted" if record["abort_reason"] == "declined" => Completion::Declined,
                "Aborted" => Completion::Aborted,
                _ => Completion::Unfinished,
            },
            status: text(&record["status"]),
            abort_reason: text(&record["abort_reason"]),
            project_type: text(&record["project_context"]["project_type"]),
            context_tokens: record["context"]["tokens"].as_u64(),
            agreement: record["agreement"].as_f64(),
            dissent: answered.then(|| list(&record["dissent"]).len() as u64),
            early_termination: record["early_termination"] == true,
            saved_micro_usd: record["estimated_cost_saved"]
                .as_f64()
                .map(|saved| millionths(saved).unsigned_abs()),
            cache_saved_micro_usd: record["cost"]["caching"]["saved_micro_usd"].as_i64(),
            cache_saved_incomplete: record["cost"]["caching"]["incomplete"] == true,
            debate: DebateColumns {
                heard: analysis["agents_compared"].as_u64().unwrap_or_default(),
                changed: analysis["agents_changed_position"]
                    .as_u64()
                    .unwrap_or_default(),
                rise: rises.iter().sum(),
                rise_of: rises.len() as u64,
            },
            verdict_changed: analysis["verdict_changed_after_round_2"].as_bool(),
            later_rounds: cost(&analysis["rounds_3_4_cost"]),
            follow_up_of: text(&record["follow_up_of"]),
        },
        agents,
        rounds,
        calls,
    }
}

fn agent(record: &Value, seat: &Value, answered: bool) -> AgentRow {
    let id = seat["id"].as_str().unwrap();
    let substitute = list(&record["substitutions"])
        .iter()
        .rev()
        .find(|substitution| {
            // A model that takes over later has no position from Round 1.
            substitution["agent_id"] == id && substitution["round_number"] == 1
        });
    let (provider, model) = match substitute {
        Some(substitution) => substitution["substitute"]
            .as_str()
            .unwrap()
            .split_once(':')
            .unwrap(),
        None => (
            seat["provider"].as_str().unwrap(),
            seat["model"].as_str().unwrap(),
        ),
    };
    let synthesis = list(&record["responses"]["round_2"]["artifacts"])
        .iter()
        .find(|artifact| artifact["artifact_type"] == "synthesis");
    let supports = synthesis
        .and_then(|synthesis| strongest(list(&synthesis["consensus_points"])))
        .is_some_and(|point| list(&point["supporting_agents"]).contains(&json!(id)));
    let dissents = list(&record["dissent"])
        .iter()
        .any(|dissent| [&seat["name"], &seat["id"]].contains(&&dissent["agent"]));
    let held = list(&record["perspectives"])
        .iter()
        .find(|held| held["agent_id"] == id);
    AgentRow {
        agent_id: id.to_owned(),
        model: model.to_owned(),
        provider: provider.to_owned(),
        role: AgentRole::Expert,
        confidence: held.and_then(|held| held["confidence"].as_f64()),
        agrees: (answered && (supports || dissents)).then_some(!dissents),
    }
}

/// Returns the point with the highest confidence, the first of equals.
fn strongest(points: &[Value]) -> Option<&Value> {
    let mut best: Option<&Value> = None;
    for point in points {
        let stated = |point: &Value| point["confidence"].as_f64().unwrap_or(-1.0);
        if best.is_none_or(|best| stated(point) > stated(best)) {
            best = Some(point);
        }
    }
    best
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(ToOwned::to_owned)
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn cost(value: &Value) -> Option<Cost> {
    let known = MicroUsd(value["micro_usd"].as_u64()?);
    Some(Cost {
        known,
        lower_bound: value["lower_bound"] == true,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "less than a million dollars"
)]
fn millionths(number: f64) -> i64 {
    (number * 1e6).round() as i64
}
