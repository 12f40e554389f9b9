//! The rows of a record equal the record.

mod second_reading;

use std::collections::BTreeSet;

use conclave::consultation::transcript::Transcript;
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::stored_record::Completion;
use conclave::domain::time::Timestamp;
use conclave::records::index::Index;
use conclave::records::index::extract;
use conclave::records::index::rows::{AgentRole, DebateColumns, Rows};
use conclave::records::index::store::put;
use conclave::records::journal::read_journal;
use conclave::records::stored::RecordReadError;
use serde_json::{Value, json};

use super::rows;
use second_reading::{list, read_again};

use crate::support::generated::{GeneratedConsultation, Length, consultations};
use crate::support::record_json;
use crate::support::sample_events;

const WRITTEN_AT: Timestamp = Timestamp(1_700_000_000_000);

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
        } = rows(&bytes, WRITTEN_AT).unwrap();
        kinds.extend([
            consultation.completion.name().to_owned(),
            consultation.status.unwrap(),
            consultation.mode,
        ]);
        kinds.extend(consultation.abort_reason);
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
        note("context", consultation.context_tokens > Some(0));
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
        consultation,
        agents,
        rounds,
        calls,
    } = inserted(&record);
    assert_eq!(agents, vec![]);
    assert_eq!(rounds, vec![]);
    assert_eq!(calls, vec![]);
    assert_eq!(consultation.created_at, WRITTEN_AT);
    assert_eq!(consultation.completion, Completion::Unfinished);
    assert_eq!(consultation.cost, None);
    assert_eq!(consultation.total_tokens, None);
    assert_eq!(consultation.confidence, None);
    assert_eq!(consultation.dissent, None);
    assert_eq!(consultation.mode, "unknown");
    assert_eq!(consultation.state, "unknown");
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
    assert_eq!(
        calls.iter().map(|call| call.call).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    assert_eq!(
        calls.iter().map(|call| call.cost).sum::<Cost>(),
        Cost::exactly(MicroUsd(25))
    );
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
    let rows = inserted(&record);
    assert_eq!(rows.calls[0].cost, Cost::at_least(MicroUsd::ZERO));
    assert_eq!(rows.calls[0].provider, "unknown");
    assert_eq!(rows.calls[0].agent_id, "a");
    assert!(rows.calls[0].failed);
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
    assert_eq!(
        consultation.debate,
        DebateColumns {
            heard: 4,
            changed: 3,
            rise: 250_000,
            rise_of: 1
        }
    );
    assert_eq!(consultation.verdict_changed, Some(true));
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
    assert_eq!(rows.consultation.completion, Completion::Unfinished);
    assert!(
        rows.consultation.cost.unwrap().known > MicroUsd::ZERO,
        "the spending of a killed process counts"
    );
}
