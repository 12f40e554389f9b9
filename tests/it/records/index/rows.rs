//! The rows of a record equal the record.

use conclave::consultation::transcript::Transcript;
use conclave::domain::time::Timestamp;
use conclave::records::index::Index;
use conclave::records::index::extract;
use conclave::records::index::rows::{Columns, Rows};
use conclave::records::index::store::put;
use conclave::records::journal::read_journal;
use rusqlite::types::Value as Column;
use serde_json::{Value, json};

use super::{column, rows};
use crate::support::generated::{GeneratedConsultation, Length, consultations};
use crate::support::{record_json, sample_events};

const WRITTEN_AT: Timestamp = Timestamp(1_700_000_000_000);

/// Returns an integer of a row; `None` where it is unknown.
fn integer(row: &Columns, name: &str) -> Option<i64> {
    match column(row, name) {
        Column::Integer(number) => Some(*number),
        _ => None,
    }
}

/// Returns a text of a row; `None` where it is unknown.
fn text<'r>(row: &'r Columns, name: &str) -> Option<&'r str> {
    match column(row, name) {
        Column::Text(text) => Some(text),
        _ => None,
    }
}

fn bytes(record: &Value) -> Vec<u8> {
    serde_json::to_vec_pretty(record).unwrap()
}

/// Columns that are 0 where the record does not say.
const ZERO_IF_ABSENT: [&str; 7] = [
    "lower_bound",
    "early_termination",
    "experts_heard",
    "experts_changed",
    "later_rounds_lower_bound",
    "cache_saved_incomplete",
    "tokens_estimated",
];

/// Checks that columns have the values at these places of a record.
fn assert_columns(row: &Columns, record: &Value, places: &[(&str, &str)]) {
    for (name, place) in places {
        let value = record.pointer(place).unwrap_or(&Value::Null);
        let is_same = match column(row, name) {
            Column::Null => value.is_null(),
            Column::Integer(0) if ZERO_IF_ABSENT.contains(name) && value.is_null() => true,
            Column::Integer(number) => {
                let flag = value.as_bool().map(i64::from);
                flag.or(value.as_i64()) == Some(*number)
            }
            Column::Real(number) => value.as_f64() == Some(*number),
            Column::Text(text) => value == text,
            Column::Blob(_) => false,
        };
        assert!(is_same, "{name}: {:?} is not {value}", column(row, name));
    }
}

/// Columns of a consultation, and where the record has their values.
const CONSULTATION_COLUMNS: [(&str, &str); 26] = [
    ("id", "/consultation_id"),
    ("question", "/question"),
    ("mode", "/mode"),
    ("final_recommendation", "/recommendation"),
    ("confidence", "/confidence"),
    ("total_cost", "/cost/usd"),
    ("total_micro_usd", "/cost/micro_usd"),
    ("lower_bound", "/cost/lower_bound"),
    ("total_tokens", "/cost/tokens/total"),
    ("duration_ms", "/duration_ms"),
    ("created_at", "/timestamp"),
    ("schema_version", "/schema_version"),
    ("state", "/state"),
    ("status", "/status"),
    ("abort_reason", "/abort_reason"),
    ("project_type", "/project_context/project_type"),
    ("agreement", "/agreement"),
    ("early_termination", "/early_termination"),
    ("experts_heard", "/debate_value_analysis/agents_compared"),
    (
        "verdict_changed",
        "/debate_value_analysis/verdict_changed_after_round_2",
    ),
    (
        "later_rounds_micro_usd",
        "/debate_value_analysis/rounds_3_4_cost/micro_usd",
    ),
    (
        "later_rounds_lower_bound",
        "/debate_value_analysis/rounds_3_4_cost/lower_bound",
    ),
    ("follow_up_of", "/follow_up_of"),
    ("context_tokens", "/context/tokens"),
    ("cache_saved_micro_usd", "/cost/caching/saved_micro_usd"),
    ("cache_saved_incomplete", "/cost/caching/incomplete"),
];

#[test]
fn rows_have_the_values_of_the_record() {
    for GeneratedConsultation { record, at, .. } in consultations(3, 60, Length::Usual) {
        let rows = rows(&bytes(&record), WRITTEN_AT).unwrap();
        assert_eq!(rows.created_at, at);
        assert_columns(&rows.consultation, &record, &CONSULTATION_COLUMNS);
        for round in &rows.rounds {
            let name = format!("round_{}", integer(round, "round_number").unwrap());
            let spent = &record["cost"]["by_round"][&name];
            let sums = [
                ("tokens_used", "/tokens/total"),
                ("micro_usd", "/micro_usd"),
                ("lower_bound", "/lower_bound"),
            ];
            assert_columns(round, spent, &sums);
            assert_columns(
                round,
                &record["responses"][&name],
                &[("duration_ms", "/duration_ms")],
            );
        }
        let rounds = record["responses"].as_object().unwrap().values();
        let agents = rounds.flat_map(|round| round["agents"].as_array().unwrap());
        let attempts = agents.flat_map(|agent| {
            let attempts = agent["attempts"].as_array().unwrap().iter();
            attempts.map(move |attempt| (agent, attempt))
        });
        let by_call = |number| attempts.clone().find(|(_, of)| of["call"] == number);
        assert_eq!(rows.calls.len(), attempts.clone().count());
        for call in &rows.calls {
            let (agent, attempt) = by_call(integer(call, "call").unwrap()).unwrap();
            assert_columns(
                call,
                agent,
                &[("agent_id", "/agent_id"), ("answer", "/answer")],
            );
            let model = [text(call, "provider"), text(call, "model")].map(Option::unwrap);
            assert_eq!(attempt["model"], model.join(":"));
            assert_columns(
                call,
                attempt,
                &[
                    ("purpose", "/purpose"),
                    ("micro_usd", "/cost/micro_usd"),
                    ("lower_bound", "/cost/lower_bound"),
                    ("input_tokens", "/tokens/input"),
                    ("output_tokens", "/tokens/output"),
                    ("tokens_estimated", "/tokens/estimated"),
                    ("first_token_ms", "/latency_ms"),
                    ("duration_ms", "/duration_ms"),
                ],
            );
            let failed = !attempt["error"].is_null();
            assert_eq!(integer(call, "failed"), Some(failed.into()));
            let hedge_won = attempt["purpose"] == "hedge" && !failed;
            assert_eq!(integer(call, "hedge_won"), Some(hedge_won.into()));
        }
        let dissents = record["dissent"].as_array().map_or(0, Vec::len);
        let answered = record["recommendation"].is_string();
        let dissent = integer(&rows.consultation, "dissent");
        assert_eq!(dissent, answered.then(|| i64::try_from(dissents).unwrap()));
    }
}

#[test]
fn agents_have_their_model_and_their_position() {
    let record = |events: Vec<_>| record_json(&Transcript::fold(&events).unwrap());
    let of = |record: &Value| {
        let agents = rows(&bytes(record), WRITTEN_AT).unwrap().agents;
        let agents = agents.iter().map(|agent| {
            let words = ["agent_id", "provider", "model", "role"].map(|name| text(agent, name));
            let words = words.map(Option::unwrap_or_default).join(" ");
            let stated = column(agent, "confidence").clone();
            (words, integer(agent, "agrees"), stated)
        });
        agents.collect::<Vec<_>>()
    };
    let substituted = of(&record(sample_events::substituted()));
    assert!(substituted[2].0.ends_with(" xai grok-4.7 expert"));
    let complete = record(sample_events::complete());
    let agents = of(&complete);
    let judge = &agents[agents.len() - 1];
    assert!(judge.0.starts_with("judge ") && judge.0.ends_with(" judge"));
    assert_eq!((judge.1, &judge.2), (Some(1), &Column::Real(0.85)));
    let position = |id: &str| {
        let mut agents = agents.iter();
        agents.find(|agent| agent.0.starts_with(id)).unwrap()
    };
    let security = position("security");
    assert_eq!(security.0, "security anthropic claude-sonnet-5-5 expert");
    let stated = complete["perspectives"][0]["confidence"].as_f64().unwrap();
    assert_eq!((security.1, &security.2), (Some(1), &Column::Real(stated)));
    assert_eq!(position("pragmatic").1, Some(0), "it dissents");
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

/// Returns the rows of a record, after inserting them into the tables.
fn inserted(record: &[u8]) -> Rows {
    std::thread_local! {
        static INDEX: Index = Index::in_memory().unwrap();
    }
    let rows = rows(record, WRITTEN_AT).unwrap();
    INDEX.with(|index| put(&index.connection, &rows).unwrap());
    rows
}

#[test]
fn own_record_is_recognized_without_any_single_marker() {
    let whole = record_json(&Transcript::fold(&sample_events::complete()).unwrap());
    for key in whole
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| *key != "consultation_id")
    {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(key);
        assert!(rows(&bytes(&less), WRITTEN_AT).is_ok(), "{key}");
    }
}

#[test]
fn record_with_only_an_id_and_a_question_claims_nothing() {
    let record = bytes(
        &json!({ "tool_version": "0.1.0", "consultation_id": "consult-1", "question": "Which?" }),
    );
    let Rows {
        created_at,
        consultation,
        agents,
        rounds,
        calls,
        ..
    } = inserted(&record);
    assert_eq!(agents, Vec::<Columns>::new());
    assert_eq!(rounds, Vec::<Columns>::new());
    assert_eq!(calls, Vec::<Columns>::new());
    assert_eq!(created_at, WRITTEN_AT);
    for unknown in ["total_micro_usd", "total_tokens", "confidence", "dissent"] {
        assert_eq!(*column(&consultation, unknown), Column::Null, "{unknown}");
    }
    assert_eq!(text(&consultation, "ended"), Some("unfinished"));
    assert_eq!(text(&consultation, "mode"), Some("unknown"));
    assert_eq!(text(&consultation, "state"), Some("unknown"));
}

#[test]
fn calls_with_duplicate_or_missing_numbers_are_all_stored() {
    let attempt = |call: Value| {
        json!({
            "call": call,
            "model": "openai:m",
            "cost": { "micro_usd": 5, "lower_bound": false },
            "stop": "end",
        })
    };
    let attempts = [
        json!(2),
        json!(2),
        json!(null),
        json!(1_u64 << 30),
        json!(0),
    ]
    .map(attempt);
    let record = json!({
        "tool_version": "0.1.0",
        "consultation_id": "consult-1",
        "responses": { "round_1": { "agents": [{ "agent_id": "a", "attempts": attempts }] } },
    });
    let record = bytes(&record);
    let calls = inserted(&record).calls;
    let of_all = |name: &str| -> Vec<i64> {
        let values = calls.iter().map(|call| integer(call, name).unwrap());
        values.collect()
    };
    assert_eq!(of_all("call"), [1, 2, 3, 4, 5]);
    assert_eq!(of_all("micro_usd"), [5; 5]);
}

#[test]
fn call_without_a_stated_cost_makes_the_total_a_lower_bound() {
    let record = json!({
        "tool_version": "0.1.0",
        "consultation_id": "consult-1",
        "responses": {
            "round_1": { "agents": [{ "agent_id": "a", "attempts": [{ "model": null }] }] },
        },
    });
    let record = bytes(&record);
    let call = &inserted(&record).calls[0];
    assert_eq!(integer(call, "micro_usd"), Some(0));
    assert_eq!(integer(call, "lower_bound"), Some(1));
    assert_eq!(text(call, "provider"), Some("unknown"));
    assert_eq!(text(call, "agent_id"), Some("a"));
    assert_eq!(integer(call, "failed"), Some(1));
}

#[test]
fn changed_minds_are_those_of_the_comparison() {
    let record = json!({
        "consultation_id": "consult-1",
        "question": "Which?",
        "perspectives": [
            { "agent_id": "a", "changed": true, "confidence": 0.5, "revised_confidence": 0.75 },
            { "agent_id": "b", "changed": true, "confidence": 0.5 },
            { "agent_id": "c", "changed": false, "refined": true },
        ],
        "debate_value_analysis": {
            "status": "compared",
            "agents_compared": 4,
            "agents_changed_position": 3,
            "verdict_changed_after_round_2": true,
        },
    });
    let record = bytes(&record);
    let consultation = inserted(&record).consultation;
    let expected = [
        ("experts_heard", 4),
        ("experts_changed", 2),
        ("confidence_rise", 250_000),
        ("confidence_rise_of", 1),
        ("verdict_changed", 1),
    ];
    for (name, number) in expected {
        assert_eq!(integer(&consultation, name), Some(number), "{name}");
    }
}

#[test]
fn transcript_gives_the_rows_that_its_record_would_give() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("consult-x.jsonl");
    for generated in consultations(5, 40, Length::Usual) {
        std::fs::write(&path, generated.journal()).unwrap();
        let events = read_journal(&path).unwrap();
        assert_eq!(events, generated.events);
        let transcript = Transcript::fold(&events).unwrap();
        assert_eq!(
            extract::rows(&transcript.stored_record(), WRITTEN_AT),
            rows(&bytes(&record_json(&transcript)), WRITTEN_AT).unwrap()
        );
    }
    let cut = &sample_events::complete()[..20];
    let record = Transcript::fold(cut).unwrap().stored_record();
    let rows = extract::rows(&record, WRITTEN_AT);
    assert_eq!(text(&rows.consultation, "ended"), Some("unfinished"));
    assert!(
        integer(&rows.consultation, "total_micro_usd") > Some(0),
        "the spending of a killed process counts"
    );
}
