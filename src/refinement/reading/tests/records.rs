//! Records of consultations, read as findings about a batch.

use serde_json::{Value, json};

use super::{batch, findings, shown_findings, single};
use crate::consultation::transcript::no_answer::NoAnswer;
use crate::domain::record::stored_record::StoredRecord;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::finding::BatchFindings;
use crate::refinement::reading::findings_of;

/// The experts of a record, with their names.
const SEATS: [(&str, &str); 3] = [
    ("skeptic", "Skeptic"),
    ("security", "Security"),
    ("ops", "Ops"),
];

pub(super) fn artifact(kind: &str, round: u8, fields: &Value) -> (u8, Value) {
    let mut artifact = json!({
        "artifact_type": kind,
        "schema_version": "1.0",
        "round_number": round,
        "created_at": "2026-11-23T00:00:00Z",
    });
    let members = fields.as_object().unwrap().clone();
    artifact.as_object_mut().unwrap().extend(members);
    (round, artifact)
}

fn position(seat: &str, position: &str, confidence: Option<f64>) -> (u8, Value) {
    let fields = json!({
        "agent_id": seat,
        "position": "So.",
        "confidence": confidence,
        "findings": findings(position),
    });
    artifact("independent", 1, &fields)
}

fn synthesis(lines: &str, by: &[&str]) -> (u8, Value) {
    let point = json!({"point": "So.", "supporting_agents": by, "confidence": 0.9});
    let fields = json!({"consensus_points": [point], "findings": findings(lines)});
    artifact("synthesis", 2, &fields)
}

fn verdict(lines: &str) -> (u8, Value) {
    let fields = json!({
        "recommendation": "Do so.",
        "confidence": 0.8,
        "findings": findings(lines),
    });
    artifact("verdict", 4, &fields)
}

/// A finished consultation with these artifacts, and further fields.
pub(super) fn record(artifacts: &[(u8, Value)], fields: &Value) -> StoredRecord {
    let agents =
        SEATS.map(|(id, name)| json!({"id": id, "name": name, "provider": "openai", "model": id}));
    let mut rounds = json!({});
    for (round, artifact) in artifacts {
        let list = &mut rounds[format!("round_{round}")]["artifacts"];
        if list.is_null() {
            *list = json!([]);
        }
        list.as_array_mut().unwrap().push(artifact.clone());
    }
    let mut record = json!({
        "consultation_id": "consult-1",
        "state": "Complete",
        "agents": agents,
        "judge": {"provider": "openai", "model": "judge"},
        "responses": rounds,
    });
    let fields = fields.as_object().unwrap().clone();
    record.as_object_mut().unwrap().extend(fields);
    serde_json::from_value(record).unwrap()
}

fn found(artifacts: &[(u8, Value)], fields: &Value, batch: &QuestionBatch) -> BatchFindings {
    findings_of(&record(artifacts, fields), batch).unwrap()
}

/// Returns the findings of a record, a line each.
fn shown(artifacts: &[(u8, Value)], fields: &Value) -> String {
    let found = found(artifacts, fields, &batch());
    shown_findings(&batch(), &found.findings, &found.unread)
}

const JUDGED: &str = "Q1 ANSWERED: 24 hours.\nQ2 OPEN: the load is unknown\nQ3 DEFERRED: finance";

#[test]
fn a_verdict_states_the_findings() {
    let found = found(&[verdict(JUDGED)], &json!({}), &batch());
    assert_eq!(
        shown_findings(&batch(), &found.findings, &found.unread),
        "Q1 answered: 24 hours.\nQ2 open: the load is unknown\nQ3 deferred: finance"
    );
    assert_eq!(found.source.consultation.as_str(), "consult-1");
    assert_eq!(found.source.confidence, Some(0.8));
    assert!(!found.source.calibrated);
}

#[test]
fn an_early_end_is_read_from_the_synthesis() {
    let artifacts = [
        position("skeptic", "Q3 ANSWERED: the shop", Some(0.9)),
        position("ops", "Q3 ANSWERED: the bank", Some(0.8)),
        position("security", "Q3 OPEN: x", Some(0.8)),
        synthesis(
            "Q1 ANSWERED: 24 hours.\nQ2 OPEN: the load is unknown",
            &["skeptic", "ops"],
        ),
    ];
    assert_eq!(
        shown(&artifacts, &json!({})),
        "Q1 answered: 24 hours.\nQ2 open: the load is unknown\n\
         Q3 answered: the shop [dissent: Ops: the bank]"
    );
}

#[test]
fn one_round_is_read_from_the_positions() {
    let alone = [position("skeptic", JUDGED, Some(0.9))];
    let found_alone = found(&alone, &json!({}), &batch());
    assert_eq!(found_alone.source.confidence, Some(0.9));
    assert_eq!(found_alone.findings.len(), 3);
    let several = [
        position(
            "skeptic",
            "Q1 ANSWERED: 24 hours.\nQ2 OPEN: no data\nNEW: Who signs?",
            Some(0.7),
        ),
        position(
            "ops",
            "Q1 ANSWERED: 24 hours\nQ2 ANSWERED: Postgres\nC2 CONTRADICTED: bcrypt",
            Some(0.9),
        ),
        position(
            "security",
            "Q1 ANSWERED: 8 hours\nC2 CONTRADICTED: it is bcrypt\nC3 CONTRADICTED: two",
            Some(0.8),
        ),
    ];
    assert_eq!(
        shown(&several, &json!({})),
        "Q1 answered: 24 hours [dissent: Security: 8 hours]\nnew: Who signs?\n\
         C2 contradicted: bcrypt\nunread: Q2 Q3"
    );
    let lowest = found(&several, &json!({}), &batch()).source.confidence;
    assert_eq!(lowest, Some(0.7));
}

#[test]
fn confidence_is_calibrated_first_and_unknown_of_demonstrations() {
    let confidence = |fields: Value| {
        let found = found(&[verdict(JUDGED)], &fields, &batch());
        (found.source.confidence, found.source.calibrated)
    };
    let expected = (Some(0.61), true);
    assert_eq!(confidence(json!({"calibrated_confidence": 0.61})), expected);
    let local = json!({"judge": {"provider": "local", "model": "tiny"}});
    assert_eq!(confidence(local), (None, false));
    let artifacts = [
        position("skeptic", JUDGED, Some(0.9)),
        position("ops", JUDGED, None),
    ];
    let unstated = found(&artifacts, &json!({}), &batch());
    assert_eq!(unstated.source.confidence, None);
}

#[test]
fn dissent_counts_for_the_answer_that_it_is_about() {
    let dissent = |concern: &str, severity: &str| json!({"dissent": [{"agent": "Ops", "concern": concern, "severity": severity}]});
    let of = |fields: Value, batch: &QuestionBatch| {
        let found = found(&[verdict(JUDGED)], &fields, batch);
        assert_eq!(found.source.dissent.len(), 1);
        shown_findings(batch, &found.findings, &found.unread)
    };
    let first = |fields: Value| of(fields, &batch()).lines().next().unwrap().to_owned();
    let expected = "Q1 answered: 24 hours. [dissent: Ops: Q1: too long]";
    assert_eq!(first(dissent("Q1: too long", "medium")), expected);
    let expected = "Q1 answered: 24 hours.";
    assert_eq!(first(dissent("Q2: not so", "high")), expected);
    let expected = "Q1 answered: 24 hours.";
    assert_eq!(first(dissent("Q1: too long", "low")), expected);
    let expected = "Q1 answered: 24 hours.";
    assert_eq!(first(dissent("I doubt it", "medium")), expected);
    let expected = "Q1 answered: 24 hours. [dissent: Ops: All of it is wrong]";
    assert_eq!(first(dissent("All of it is wrong", "high")), expected);
    let expected = "Q1 answered: 24 hours. [dissent: Ops: I doubt it]";
    assert_eq!(of(dissent("I doubt it", "medium"), &single()), expected);
}

#[test]
fn a_verdict_that_did_not_hold_is_disputed() {
    let fields = json!({"judge_consistent": false});
    let shown = shown(&[verdict(JUDGED)], &fields);
    let expected = "Q1 answered: 24 hours. [dissent: the judge's second pass";
    assert!(shown.starts_with(expected), "{shown}");
}

#[test]
fn a_consultation_without_an_answer_says_why() {
    let of = |fields: Value| findings_of(&record(&[], &fields), &batch());
    assert_eq!(of(json!({"state": "Round2"})), Err(NoAnswer::Unfinished));
    let aborted = json!({
        "state": "Aborted",
        "abort_reason": "cost_ceiling",
        "abort_message": "the ceiling is reached",
    });
    let message = "the ceiling is reached".to_owned();
    assert_eq!(of(aborted), Err(NoAnswer::CostCeiling { message }));
    assert!(matches!(of(json!({})), Err(NoAnswer::Failed { .. })));
    let silent = record(
        &[artifact("verdict", 4, &json!({"recommendation": " "}))],
        &json!({}),
    );
    assert!(matches!(
        findings_of(&silent, &batch()),
        Err(NoAnswer::Failed { .. })
    ));
}
