//! The rows of a record equal the record.

mod second_reading;

use std::collections::BTreeSet;

use conclave::consultation::transcript::Transcript;
use conclave::domain::time::Timestamp;
use conclave::records::index::Index;
use conclave::records::index::extract;
use conclave::records::index::rows::{Columns, Rows};
use conclave::records::index::store::put;
use conclave::records::journal::read_journal;
use conclave::records::stored::RecordReadError;
use rusqlite::types::Value as Column;
use serde_json::{Value, json};

use super::{column, rows};
use second_reading::{list, read_again};

use crate::support::generated::{GeneratedConsultation, Length, consultations};
use crate::support::record_json;
use crate::support::sample_events;

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

#[test]
fn rows_of_a_record_equal_an_independent_reading() {
    for generated in
        consultations(3, 200, Length::Short).chain(consultations(4, 200, Length::Usual))
    {
        let bytes = generated.bytes();
        let read = rows(&bytes, WRITTEN_AT).unwrap();
        assert_eq!(read, read_again(&generated.record), "{}", generated.id);
        assert_eq!(read.created_at, generated.at);
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
        } = rows(&bytes, WRITTEN_AT).unwrap();
        let is_known = |name: &str| *column(&consultation, name) != Column::Null;
        let exceeds_zero = |name: &str| integer(&consultation, name) > Some(0);
        for name in ["ended", "status", "mode", "abort_reason"] {
            kinds.extend(text(&consultation, name).map(ToOwned::to_owned));
        }
        let mut note = |what: &str, holds: bool| kinds.extend(holds.then(|| what.to_owned()));
        note(
            "no confidence",
            is_known("final_recommendation") && !is_known("confidence"),
        );
        note("lower bound", exceeds_zero("lower_bound"));
        note(
            "early",
            exceeds_zero("early_termination")
                && is_known("saved_micro_usd")
                && !is_known("later_rounds_micro_usd"),
        );
        note("dissent", exceeds_zero("dissent"));
        note("compared", is_known("verdict_changed"));
        note("project", is_known("project_type"));
        note("context", exceeds_zero("context_tokens"));
        note(
            "moved",
            exceeds_zero("experts_changed") && integer(&consultation, "confidence_rise") != Some(0),
        );
        let has_call =
            |name: &str, value: Column| calls.iter().any(|call| *column(call, name) == value);
        note("hedge won", has_call("hedge_won", true.into()));
        note("call failed", has_call("failed", true.into()));
        note("estimated", has_call("tokens_estimated", true.into()));
        note("refused", has_call("stop", "refused".to_owned().into()));
        note(
            "local",
            calls.iter().any(|call| {
                text(call, "provider") == Some("local") && integer(call, "micro_usd") == Some(0)
            }),
        );
        note(
            "dissenter",
            agents
                .iter()
                .any(|agent| integer(agent, "agrees") == Some(0)),
        );
        note(
            "supporter",
            agents.iter().any(|agent| {
                text(agent, "role") == Some("expert") && integer(agent, "agrees") == Some(1)
            }),
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
        "context",
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
fn other_files_and_versions_have_no_rows() {
    let ours = |version: &str| {
        bytes(&json!({
            "tool_version": "9",
            "consultation_id": "consult-1",
            "question": "Which?",
            "schema_version": version,
        }))
    };
    for other in ["2.0", "10", "1.7", "0.3", "one"] {
        assert!(matches!(
            rows(&ours(other), WRITTEN_AT),
            Err(RecordReadError::OtherVersion(version)) if version == other
        ));
    }
    assert!(rows(&ours("1.0"), WRITTEN_AT).is_ok());
    for damaged in ["", "{", "{\"tool_version\": \"0.1.0\",", "\0\0\0", "{} {}"] {
        assert!(
            matches!(
                rows(damaged.as_bytes(), WRITTEN_AT),
                Err(RecordReadError::NotJson(_))
            ),
            "{damaged}"
        );
    }
    for other in [
        "[]",
        "null",
        "3",
        "{}",
        "{\"tool_version\": \"0.1.0\"}",
        "{\"tool_version\": \"0.1.0\", \"consultation_id\": \"consult-1\"}",
        "{\"question\": \"?\"}",
    ] {
        assert!(
            matches!(
                rows(other.as_bytes(), WRITTEN_AT),
                Err(RecordReadError::NotARecord(_))
            ),
            "{other}"
        );
    }
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
fn changes_of_position_are_those_of_the_comparison() {
    let record = json!({
        "consultation_id": "consult-1",
        "question": "Which?",
        "perspectives": [
            { "agent_id": "a", "changed": true, "confidence": 0.5, "revised_confidence": 0.75 },
            { "agent_id": "b", "changed": true, "confidence": 0.5 },
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
        ("experts_changed", 3),
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
