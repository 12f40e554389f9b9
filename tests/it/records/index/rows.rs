//! What the index keeps of a record is what the record says, and a record that is not quite as
//! expected is read as far as it goes.

use std::collections::BTreeSet;

use conclave::consultation::transcript::Transcript;
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::stored_record::{Completion, RecordWriter};
use conclave::domain::time::Timestamp;
use conclave::records::index::Index;
use conclave::records::index::extract::{ExtractError, rows, rows_of_journal};
use conclave::records::index::rows::{
    AgentRole, AgentRow, CallRow, ConsultationRow, DebateColumns, RoundRow, Rows,
};
use conclave::records::index::store::put;
use conclave::records::journal::read::read_journal;
use conclave::records::record::record;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::generated::{GeneratedConsultation, Length, consultations};
use crate::support::sample_events;

const WRITTEN_AT: Timestamp = Timestamp(1_700_000_000_000);

fn bytes(record: &Value) -> Vec<u8> {
    serde_json::to_vec_pretty(record).unwrap()
}

fn text(value: &Value) -> Option<std::borrow::Cow<'static, str>> {
    value.as_str().map(|text| text.to_owned().into())
}

fn list(value: &Value) -> &[Value] {
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

/// The rows of a record of ours, read once more: slowly, and from the whole value.
fn read_again(record: &Value, stem: &'static str) -> Rows<'static> {
    let answered = record["recommendation"].is_string();
    let heard = list(&record["perspectives"])
        .iter()
        .filter(|held| held["changed"].is_boolean());
    let rises: Vec<i64> = heard
        .clone()
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
    let later: Vec<Cost> = rounds
        .iter()
        .filter(|round| round.round_number > 2)
        .filter_map(|round| round.cost)
        .collect();
    let mut calls: Vec<CallRow<'static>> = vec![];
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
                    provider: model.0.to_owned().into(),
                    model: model.1.to_owned().into(),
                    stop: text(&attempt["stop"]).or(attempt["stop"]
                        .as_object()
                        .map(|stop| stop.keys().next().unwrap().clone().into())),
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
    let mut agents: Vec<AgentRow<'static>> = list(&record["agents"])
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
            stem: stem.into(),
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
                "Aborted" => Completion::Aborted,
                _ => Completion::Unfinished,
            },
            status: text(&record["status"]),
            abort_reason: text(&record["abort_reason"]),
            writer: RecordWriter::Conclave,
            project_type: text(&record["project_context"]["project_type"]),
            agreement: record["agreement"].as_f64(),
            dissent: answered.then(|| list(&record["dissent"]).len() as u64),
            early_termination: record["early_termination"] == true,
            saved_micro_usd: record["estimated_cost_saved"]
                .as_f64()
                .map(|saved| millionths(saved).unsigned_abs()),
            debate: DebateColumns {
                heard: match analysis["status"].as_str() {
                    Some("compared") => analysis["agents_compared"].as_u64().unwrap(),
                    Some(_) => 0,
                    None => heard.clone().count() as u64,
                },
                changed: match analysis["status"].as_str() {
                    Some("compared") => analysis["agents_changed_position"].as_u64().unwrap(),
                    Some(_) => 0,
                    None => heard.filter(|held| held["changed"] == true).count() as u64,
                },
                rise: rises.iter().sum(),
                rise_of: rises.len() as u64,
            },
            verdict_changed: record["verdict_changed_after_round_2"]
                .as_bool()
                .or_else(|| analysis["verdict_changed_after_round_2"].as_bool()),
            later_rounds: match &analysis["rounds_3_4_cost"] {
                Value::Object(_) => cost(&analysis["rounds_3_4_cost"]),
                _ => (!later.is_empty()).then(|| later.into_iter().sum()),
            },
        },
        agents,
        rounds,
        calls,
    }
}

/// The point of which most is stated; of equals the first.
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

fn agent(record: &Value, seat: &Value, answered: bool) -> AgentRow<'static> {
    let id = seat["id"].as_str().unwrap();
    let substitute = list(&record["substitutions"])
        .iter()
        .rev()
        .find(|substitution| {
            // Who took over later had not stated anything in Round 1.
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
        agent_id: id.to_owned().into(),
        model: model.to_owned().into(),
        provider: provider.to_owned().into(),
        role: AgentRole::Expert,
        confidence: held.and_then(|held| held["confidence"].as_f64()),
        agrees: (answered && (supports || dissents)).then_some(!dissents),
    }
}

#[test]
fn rows_of_a_record_equal_an_independent_reading() {
    for generated in
        consultations(3, 200, Length::Short).chain(consultations(4, 200, Length::Usual))
    {
        let bytes = generated.bytes();
        let read = rows(&bytes, "stem", WRITTEN_AT).unwrap();
        assert_eq!(
            read,
            read_again(&generated.record, "stem"),
            "{}",
            generated.id
        );
        assert_eq!(read.consultation.created_at, generated.at);
    }
}

#[test]
fn generated_records_cover_every_kind() {
    let mut kinds = BTreeSet::new();
    for GeneratedConsultation { record, .. } in consultations(4, 300, Length::Usual) {
        let bytes = bytes(&record);
        let Rows {
            consultation,
            agents,
            calls,
            ..
        } = rows(&bytes, "stem", WRITTEN_AT).unwrap();
        kinds.extend([
            consultation.completion.name().to_owned(),
            consultation.status.unwrap().into_owned(),
            consultation.mode.into_owned(),
        ]);
        kinds.extend(consultation.abort_reason.map(std::borrow::Cow::into_owned));
        let mut note = |what: &str, holds: bool| kinds.extend(holds.then(|| what.to_owned()));
        note(
            "no confidence",
            consultation.final_recommendation.is_some() && consultation.confidence.is_none(),
        );
        note(
            "lower bound",
            consultation.cost.is_some_and(|cost| cost.lower_bound),
        );
        note(
            "early",
            consultation.early_termination
                && consultation.saved_micro_usd.is_some()
                && consultation.later_rounds.is_none(),
        );
        note("dissent", consultation.dissent > Some(0));
        note("compared", consultation.verdict_changed.is_some());
        note("project", consultation.project_type.is_some());
        note(
            "moved",
            consultation.debate.changed > 0 && consultation.debate.rise != 0,
        );
        note("hedge won", calls.iter().any(|call| call.hedge_won));
        note("call failed", calls.iter().any(|call| call.failed));
        note("estimated", calls.iter().any(|call| call.tokens_estimated));
        note(
            "refused",
            calls
                .iter()
                .any(|call| call.stop.as_deref() == Some("refused")),
        );
        note(
            "local",
            calls
                .iter()
                .any(|call| call.provider == "local" && call.cost == Cost::FREE),
        );
        note(
            "dissenter",
            agents.iter().any(|agent| agent.agrees == Some(false)),
        );
        note(
            "supporter",
            agents
                .iter()
                .any(|agent| agent.role == AgentRole::Expert && agent.agrees == Some(true)),
        );
        note(
            "lost hedge",
            list(&record["hedges"])
                .iter()
                .any(|hedge| hedge["dropped"] == hedge["backup"]),
        );
    }
    let expected = [
        "aborted",
        "all_agents_failed",
        "call failed",
        "compared",
        "complete",
        "completed",
        "converge",
        "declined",
        "degraded",
        "dissent",
        "dissenter",
        "early",
        "estimated",
        "explore",
        "hedge won",
        "incomplete",
        "interrupted",
        "judge_failed",
        "local",
        "lost hedge",
        "lower bound",
        "moved",
        "no confidence",
        "project",
        "refused",
        "supporter",
        "unfinished",
    ];
    assert_eq!(
        kinds.iter().map(String::as_str).collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn one_seed_makes_the_same_records_with_ids_in_order_of_time() {
    let ids = |count| {
        consultations(9, count, Length::Short).map(|generated| (generated.id, generated.at))
    };
    let all: Vec<_> = ids(50).collect();
    assert_eq!(all, ids(50).collect::<Vec<_>>());
    assert!(
        all.is_sorted_by(
            |one, other| one.1 < other.1 && one.0 < other.0 || one.1 == other.1 && one.0 != other.0
        ),
        "{all:?}"
    );
}

/// All places in a value but its root.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value))
            .collect(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(nth, value)| (nth.to_string(), value))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
    };
    for (key, value) in inner {
        let place = format!("{at}/{key}");
        places(value, &place, found);
        found.push(place);
    }
}

/// Values of all types but this one's.
fn others(value: &Value) -> Vec<Value> {
    let all = [
        json!(true),
        json!(7),
        json!("text"),
        json!(["text", 3, {}]),
        json!({ "key": [1] }),
    ];
    all.into_iter()
        .filter(|other| std::mem::discriminant(other) != std::mem::discriminant(value))
        .collect()
}

/// Reads a record, and checks that its rows fit into the tables.
fn fitting(record: &[u8]) -> Rows<'_> {
    std::thread_local! {
        static INDEX: Index = Index::in_memory().unwrap();
    }
    let rows = rows(record, "stem", WRITTEN_AT).unwrap();
    INDEX.with(|index| put(index.connection(), &rows).unwrap());
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn field_of_another_type_counts_as_missing(seed in 0..40_u64, place in any::<prop::sample::Index>()) {
        let GeneratedConsultation { mut record, .. } = consultations(seed, 1, Length::Usual).next().unwrap();
        record["tool_version"] = json!("0.1.0");
        let mut all = vec![];
        places(&record, "", &mut all);
        // A reason to stop may be text or an object.
        all.retain(|place| place != "/consultation_id" && place != "/tool_version" && !place.ends_with("/stop"));
        let place = place.get(&all);
        let before = record.pointer(place).unwrap().clone();
        *record.pointer_mut(place).unwrap() = Value::Null;
        let missing = bytes(&record);
        let missing = fitting(&missing);
        for other in others(&before) {
            *record.pointer_mut(place).unwrap() = other;
            let bytes = bytes(&record);
            let read = fitting(&bytes);
            // What was null says nothing of what is expected there.
            prop_assert!(before.is_null() || read == missing, "{place}");
        }
        let (parent, key) = place.rsplit_once('/').unwrap();
        if let Some(Value::Object(fields)) = record.pointer_mut(parent) {
            fields.remove(&key.replace("~1", "/").replace("~0", "~"));
            let bytes = bytes(&record);
            prop_assert_eq!(fitting(&bytes), missing);
        }
    }
}

#[test]
fn own_record_is_recognized_without_any_single_marker() {
    let whole = record(&Transcript::fold(&sample_events::complete()).unwrap());
    for key in whole
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| *key != "consultation_id")
    {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(key);
        assert!(rows(&bytes(&less), "stem", WRITTEN_AT).is_ok(), "{key}");
    }
}

#[test]
fn record_with_only_an_id_claims_nothing() {
    let record = bytes(&json!({ "tool_version": "0.1.0", "consultation_id": "consult-1" }));
    let Rows {
        consultation,
        agents,
        rounds,
        calls,
    } = fitting(&record);
    assert_eq!(agents, vec![]);
    assert_eq!(rounds, vec![]);
    assert_eq!(calls, vec![]);
    assert_eq!(consultation.created_at, WRITTEN_AT);
    assert_eq!(consultation.completion, Completion::Unfinished);
    assert_eq!(consultation.cost, None);
    assert_eq!(consultation.total_tokens, None);
    assert_eq!(consultation.confidence, None);
    assert_eq!(consultation.dissent, None);
    assert_eq!(consultation.mode.as_ref(), "unknown");
    assert_eq!(consultation.state.as_ref(), "unknown");
}

#[test]
fn other_files_and_newer_versions_have_no_rows() {
    let ours = |version: &str| {
        bytes(
            &json!({ "tool_version": "9", "consultation_id": "consult-1", "schema_version": version }),
        )
    };
    assert_eq!(
        rows(&ours("2.0"), "stem", WRITTEN_AT),
        Err(ExtractError::Newer("2.0".to_owned()))
    );
    assert_eq!(
        rows(&ours("10"), "stem", WRITTEN_AT),
        Err(ExtractError::Newer("10".to_owned()))
    );
    for readable in ["1.0", "1.7", "0.3", "one"] {
        assert!(
            rows(&ours(readable), "stem", WRITTEN_AT).is_ok(),
            "{readable}"
        );
    }
    for damaged in ["", "{", "{\"tool_version\": \"0.1.0\",", "\0\0\0", "{} {}"] {
        assert_eq!(
            rows(damaged.as_bytes(), "stem", WRITTEN_AT),
            Err(ExtractError::NotJson),
            "{damaged}"
        );
    }
    for other in [
        "[]",
        "null",
        "3",
        "{}",
        "{\"tool_version\": \"0.1.0\"}",
        "{\"question\": \"?\"}",
    ] {
        assert_eq!(
            rows(other.as_bytes(), "stem", WRITTEN_AT),
            Err(ExtractError::NotARecord),
            "{other}"
        );
    }
}

#[test]
fn calls_with_duplicate_or_missing_numbers_are_all_stored() {
    let attempt = |call: Value| json!({ "call": call, "model": "openai:m", "cost": { "micro_usd": 5, "lower_bound": false }, "stop": "end" });
    let attempts = [
        json!(2),
        json!(2),
        json!(null),
        json!("x"),
        json!(1_u64 << 40),
        json!(0),
    ]
    .map(attempt);
    let record = json!({
        "tool_version": "0.1.0",
        "consultation_id": "consult-1",
        "responses": { "round_1": { "agents": [{ "agent_id": "a", "attempts": attempts }] } },
    });
    let record = bytes(&record);
    let calls = fitting(&record).calls;
    assert_eq!(
        calls.iter().map(|call| call.call).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6]
    );
    assert_eq!(
        calls.iter().map(|call| call.cost).sum::<Cost>(),
        Cost::exactly(MicroUsd(30))
    );
}

#[test]
fn call_without_a_stated_cost_makes_the_total_a_lower_bound() {
    let record = json!({
        "tool_version": "0.1.0",
        "consultation_id": "consult-1",
        "responses": { "round_1": { "agents": [{ "attempts": [{ "model": "nobody" }] }] } },
    });
    let record = bytes(&record);
    let rows = fitting(&record);
    assert_eq!(rows.calls[0].cost, Cost::at_least(MicroUsd::ZERO));
    assert_eq!(rows.calls[0].provider.as_ref(), "unknown");
    assert_eq!(rows.calls[0].agent_id.as_ref(), "unknown");
    assert!(rows.calls[0].failed);
}

#[test]
fn analysis_in_the_record_counts_where_experts_state_nothing() {
    let record = json!({
        "tool_version": "0.9.0",
        "consultation_id": "consult-1",
        "debate_value_analysis": {
            "total_agents": 4,
            "agents_changed_position": 3,
            "avg_confidence_increase": 0.25,
            "verdict_changed_after_round_2": true,
        },
    });
    let record = bytes(&record);
    let consultation = fitting(&record).consultation;
    assert_eq!(
        consultation.debate,
        DebateColumns {
            heard: 4,
            changed: 3,
            rise: 1_000_000,
            rise_of: 4
        }
    );
    assert_eq!(consultation.verdict_changed, Some(true));
}

#[test]
fn journal_gives_the_rows_that_its_record_would_give() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("consult-x.jsonl");
    for generated in consultations(5, 40, Length::Usual) {
        std::fs::write(&path, generated.journal()).unwrap();
        let events = read_journal(&path).unwrap().events;
        assert_eq!(events, generated.events);
        let bytes = bytes(&record(&Transcript::fold(&events).unwrap()));
        assert_eq!(
            rows_of_journal(&events, "stem", WRITTEN_AT).unwrap(),
            rows(&bytes, "stem", WRITTEN_AT).unwrap()
        );
    }
    assert_eq!(
        rows_of_journal(&[], "stem", WRITTEN_AT),
        Err(ExtractError::NotARecord)
    );
    let cut = &sample_events::complete()[..20];
    let rows = rows_of_journal(cut, "stem", WRITTEN_AT).unwrap();
    assert_eq!(rows.consultation.completion, Completion::Unfinished);
    assert!(
        rows.consultation.cost.unwrap().known > MicroUsd::ZERO,
        "what a killed process spent counts"
    );
}
