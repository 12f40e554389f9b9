//! An independent reading of our own record into rows, against which the index's reading is
//! checked.

use conclave::records::index::rows::{Columns, Rows};
use rusqlite::types::Value as Column;
use serde_json::{Value, json};

/// Returns the rows of our own record, read independently from the whole JSON value.
pub(super) fn read_again(record: &Value) -> Rows {
    let answered = record["recommendation"].is_string();
    let mut agents: Vec<Columns> = list(&record["agents"])
        .iter()
        .map(|seat| agent(record, seat, answered))
        .collect();
    agents.push(vec![
        ("consultation_id", text(&record["consultation_id"])),
        ("agent_id", "judge".to_owned().into()),
        ("model", text(&record["judge"]["model"])),
        ("provider", text(&record["judge"]["provider"])),
        ("role", "judge".to_owned().into()),
        ("confidence", record["confidence"].as_f64().into()),
        ("agrees", answered.then_some(true).into()),
    ]);
    Rows {
        id: record["consultation_id"].as_str().unwrap().to_owned(),
        created_at: serde_json::from_value(record["timestamp"].clone()).unwrap(),
        consultation: consultation(record, answered),
        agents,
        rounds: rounds(record),
        calls: calls(record),
    }
}

fn consultation(record: &Value, answered: bool) -> Columns {
    let analysis = &record["debate_value_analysis"];
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
    let dissent = i64::try_from(list(&record["dissent"]).len()).unwrap();
    let saved = record["estimated_cost_saved"].as_f64().map(millionths);
    let ended = match record["state"].as_str().unwrap() {
        "Complete" => "completed",
        "Aborted" if record["abort_reason"] == "declined" => "declined",
        "Aborted" => "aborted",
        _ => "unfinished",
    };
    let cost = &record["cost"];
    let later_rounds = &analysis["rounds_3_4_cost"];
    vec![
        ("id", text(&record["consultation_id"])),
        ("question", text(&record["question"])),
        ("mode", text(&record["mode"])),
        ("final_recommendation", text(&record["recommendation"])),
        ("confidence", record["confidence"].as_f64().into()),
        ("total_cost", cost["usd"].as_f64().into()),
        ("total_micro_usd", cost["micro_usd"].as_i64().into()),
        ("lower_bound", is_true(&cost["lower_bound"])),
        ("total_tokens", cost["tokens"]["total"].as_i64().into()),
        ("duration_ms", record["duration_ms"].as_i64().into()),
        ("created_at", text(&record["timestamp"])),
        ("schema_version", text(&record["schema_version"])),
        ("state", text(&record["state"])),
        ("ended", ended.to_owned().into()),
        ("status", text(&record["status"])),
        ("abort_reason", text(&record["abort_reason"])),
        (
            "project_type",
            text(&record["project_context"]["project_type"]),
        ),
        ("agreement", record["agreement"].as_f64().into()),
        ("dissent", answered.then_some(dissent).into()),
        ("early_termination", is_true(&record["early_termination"])),
        ("saved_micro_usd", saved.into()),
        ("experts_heard", count(&analysis["agents_compared"])),
        (
            "experts_changed",
            count(&analysis["agents_changed_position"]),
        ),
        ("confidence_rise", rises.iter().sum::<i64>().into()),
        (
            "confidence_rise_of",
            i64::try_from(rises.len()).unwrap().into(),
        ),
        (
            "verdict_changed",
            analysis["verdict_changed_after_round_2"].as_bool().into(),
        ),
        (
            "later_rounds_micro_usd",
            later_rounds["micro_usd"].as_i64().into(),
        ),
        (
            "later_rounds_lower_bound",
            is_true(&later_rounds["lower_bound"]),
        ),
        ("follow_up_of", text(&record["follow_up_of"])),
        (
            "context_tokens",
            record["context"]["tokens"].as_i64().into(),
        ),
        (
            "cache_saved_micro_usd",
            cost["caching"]["saved_micro_usd"].as_i64().into(),
        ),
        (
            "cache_saved_incomplete",
            is_true(&cost["caching"]["incomplete"]),
        ),
    ]
}

fn rounds(record: &Value) -> Vec<Columns> {
    let kinds = ["independent", "synthesis", "cross_exam", "verdict"];
    let mut rounds = vec![];
    for (number, kind) in (1..=4_u8).zip(kinds) {
        let round = format!("round_{number}");
        let spent = &record["cost"]["by_round"][&round];
        let response = &record["responses"][&round];
        if spent.is_null() && list(&response["agents"]).is_empty() {
            continue;
        }
        rounds.push(vec![
            ("consultation_id", text(&record["consultation_id"])),
            ("round_number", number.into()),
            ("round_type", kind.to_owned().into()),
            ("duration_ms", response["duration_ms"].as_i64().into()),
            ("tokens_used", spent["tokens"]["total"].as_i64().into()),
            ("micro_usd", spent["micro_usd"].as_i64().into()),
            ("lower_bound", is_true(&spent["lower_bound"])),
        ]);
    }
    rounds
}

fn calls(record: &Value) -> Vec<Columns> {
    let mut calls = vec![];
    for number in 1..=4_u8 {
        for work in list(&record["responses"][format!("round_{number}")]["agents"]) {
            for attempt in list(&work["attempts"]) {
                calls.push((attempt["call"].as_u64(), call(number, work, attempt)));
            }
        }
    }
    calls.sort_by_key(|(number, _)| *number);
    calls.into_iter().map(|(_, call)| call).collect()
}

fn call(round: u8, work: &Value, attempt: &Value) -> Columns {
    let (provider, model) = attempt["model"].as_str().unwrap().split_once(':').unwrap();
    let stop = match attempt["stop"].as_object() {
        Some(stop) => stop.keys().next().unwrap().clone().into(),
        None => text(&attempt["stop"]),
    };
    let failed = !attempt["error"].is_null();
    let tokens = &attempt["tokens"];
    vec![
        ("round_number", round.into()),
        ("agent_id", text(&work["agent_id"])),
        ("answer", text(&work["answer"])),
        ("purpose", text(&attempt["purpose"])),
        ("provider", provider.to_owned().into()),
        ("model", model.to_owned().into()),
        ("stop", stop),
        ("failed", failed.into()),
        (
            "hedge_won",
            (attempt["purpose"] == "hedge" && !failed).into(),
        ),
        (
            "micro_usd",
            attempt["cost"]["micro_usd"].as_i64().unwrap().into(),
        ),
        ("lower_bound", is_true(&attempt["cost"]["lower_bound"])),
        ("input_tokens", tokens["input"].as_i64().unwrap().into()),
        ("output_tokens", tokens["output"].as_i64().unwrap().into()),
        ("tokens_estimated", is_true(&tokens["estimated"])),
        ("first_token_ms", attempt["latency_ms"].as_i64().into()),
        ("duration_ms", attempt["duration_ms"].as_i64().into()),
        ("call", attempt["call"].as_i64().unwrap().into()),
    ]
}

fn agent(record: &Value, seat: &Value, answered: bool) -> Columns {
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
    let agrees = (answered && (supports || dissents)).then_some(!dissents);
    vec![
        ("consultation_id", text(&record["consultation_id"])),
        ("agent_id", id.to_owned().into()),
        ("model", model.to_owned().into()),
        ("provider", provider.to_owned().into()),
        ("role", "expert".to_owned().into()),
        (
            "confidence",
            held.and_then(|held| held["confidence"].as_f64()).into(),
        ),
        ("agrees", agrees.into()),
    ]
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

fn text(value: &Value) -> Column {
    value.as_str().map(ToOwned::to_owned).into()
}

fn count(value: &Value) -> Column {
    value.as_i64().unwrap_or_default().into()
}

fn is_true(value: &Value) -> Column {
    (*value == true).into()
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "less than a million dollars"
)]
fn millionths(number: f64) -> i64 {
    (number * 1e6).round() as i64
}
