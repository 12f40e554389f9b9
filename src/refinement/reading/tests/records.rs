//! Records of consultations, read as findings about a batch.

use serde_json::{Value, json};

use super::{batch, shown_findings, single};
use crate::consultation::analysis::no_answer::NoAnswer;
use crate::domain::stored_record::StoredRecord;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::finding::BatchFindings;
use crate::refinement::label::form::ExtractionForm;
use crate::refinement::reading::{ExtractionError, extracted_items, findings_of};

/// The experts of a record, with their names.
const SEATS: [(&str, &str); 3] = [
    ("skeptic", "Skeptic"),
    ("security", "Security"),
    ("ops", "Ops"),
];

fn artifact(kind: &str, round: u8, fields: &Value) -> (u8, Value) {
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
    let fields = json!({"agent_id": seat, "position": position, "confidence": confidence});
    artifact("independent", 1, &fields)
}

fn synthesis(points: &[(&str, &[&str])]) -> (u8, Value) {
    let points: Vec<Value> = points
        .iter()
        .map(|(point, by)| json!({"point": point, "supporting_agents": by, "confidence": 0.9}))
        .collect();
    artifact("synthesis", 2, &json!({"consensus_points": points}))
}

fn verdict(recommendation: &str) -> (u8, Value) {
    let fields = json!({"recommendation": recommendation, "confidence": 0.8});
    artifact("verdict", 4, &fields)
}

fn composed(recommendation: &str) -> (u8, Value) {
    let fields = json!({
        "recommendation": recommendation,
        "confidence": 0.7,
        "composed_from": "synthesis",
    });
    artifact("verdict", 2, &fields)
}

/// A finished consultation with these artifacts, and further fields.
fn record(artifacts: &[(u8, Value)], fields: &Value) -> StoredRecord {
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
fn a_summary_counts_where_the_recommendation_is_silent() {
    let fields = json!({
        "recommendation": "Q1 ANSWERED: 24 hours.",
        "summary": "Q1 ANSWERED: 8 hours. Q2 OPEN: the load is unknown",
    });
    assert_eq!(
        shown(&[artifact("verdict", 4, &fields)], &json!({})),
        "Q1 answered: 24 hours.\nQ2 open: the load is unknown\nunread: Q3"
    );
}

#[test]
fn a_summary_does_not_settle_a_contradiction() {
    let fields = json!({
        "recommendation": "Q1 ANSWERED: 24 hours.\nQ1 ANSWERED: 8 hours.",
        "summary": "Q1 ANSWERED: 8 hours.",
    });
    let shown = shown(&[artifact("verdict", 4, &fields)], &json!({}));
    assert_eq!(shown, "unread: Q1 Q2 Q3");
}

#[test]
fn an_early_end_is_read_from_the_points_of_agreement() {
    let both: &[&str] = &["skeptic", "ops"];
    let artifacts = [
        position("skeptic", "Q3 ANSWERED: the shop", Some(0.9)),
        position("ops", "Q3 ANSWERED: the bank", Some(0.8)),
        position("security", "Q3 OPEN: x", Some(0.8)),
        synthesis(&[
            ("Q1 ANSWERED: 24 hours.", both),
            ("Q2 OPEN: the load is unknown", both),
            ("Q1 ANSWERED: 8 hours.", &["security"]),
        ]),
        composed("Q1 ANSWERED: 24 hours."),
    ];
    assert_eq!(
        shown(&artifacts, &json!({})),
        "Q1 answered: 24 hours.\nQ2 open: the load is unknown\n\
         Q3 answered: the shop [dissent: Ops: the bank]"
    );
}

#[test]
fn an_early_end_without_labels_is_unread() {
    let artifacts = [
        position("skeptic", "24 hours", Some(0.9)),
        synthesis(&[("Sessions last 24 hours", &["skeptic", "ops"])]),
        composed("Sessions last 24 hours"),
    ];
    assert_eq!(shown(&artifacts, &json!({})), "unread: Q1 Q2 Q3");
}

#[test]
fn an_only_question_can_have_an_answer_without_a_label() {
    let words = "The sessions last a day.";
    let shown = |artifacts: &[(u8, Value)]| {
        let fields = json!({"calibrated_confidence": 0.95});
        let found = found(artifacts, &fields, &single());
        let shown = shown_findings(&single(), &found.findings, &found.unread);
        let confidence = found.source.confidence.map(|value| format!(" at {value}"));
        assert_eq!(found.source.calibrated, confidence.is_some());
        shown + &confidence.unwrap_or_default()
    };
    let expert = |seat: &str| position(seat, words, Some(0.9));
    let composed_from = |by: &[&str]| {
        let [skeptic, ops] = ["skeptic", "ops"].map(expert);
        [skeptic, ops, synthesis(&[(words, by)]), composed(words)]
    };
    let answered = "Q1 answered: The sessions last a day.";
    assert_eq!(shown(&[verdict(words)]), answered);
    assert_eq!(shown(&[expert("skeptic")]), answered);
    assert_eq!(shown(&composed_from(&["skeptic", "ops"])), answered);
    let refusal = "The document does not say it.";
    assert_eq!(shown(&[verdict(refusal)]), format!("Q1 open: {refusal}"));
    // One of several experts speaks for itself alone.
    let unread = "unread: Q1 at 0.95";
    assert_eq!(shown(&composed_from(&["ops"])), unread);
    assert_eq!(shown(&[expert("skeptic"), expert("ops")]), unread);
    // What has a label is read as before.
    let labelled = "Q1 ANSWERED: It is a day.";
    assert_eq!(
        shown(&[verdict(labelled)]),
        "Q1 answered: It is a day. at 0.95"
    );
    let contradictory = "Q1 ANSWERED: It is a day.\nQ1 OPEN: no data";
    assert_eq!(shown(&[verdict(contradictory)]), unread);
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
            "Q1 ANSWERED: **24 hours**\nQ2 ANSWERED: Postgres\nC2 CONTRADICTED: bcrypt",
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
fn a_menu_is_read_from_its_first_option() {
    let fields = json!({
        "recommendation": "",
        "recommendations": [
            {"option": JUDGED, "confidence": 0.6},
            {"option": "Q1 ANSWERED: 8 hours", "confidence": 0.3},
        ],
    });
    let found = found(&[artifact("verdict", 4, &fields)], &json!({}), &batch());
    assert_eq!(found.findings.len(), 3);
    assert_eq!(found.source.confidence, Some(0.6));
}

#[test]
fn confidence_is_calibrated_first_and_unknown_of_demonstrations() {
    let confidence = |fields: Value| {
        let found = found(&[verdict(JUDGED)], &fields, &batch());
        (found.source.confidence, found.source.calibrated)
    };
    assert_eq!(
        confidence(json!({"calibrated_confidence": 0.61})),
        (Some(0.61), true)
    );
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
    assert_eq!(
        first(dissent("Q1: too long", "medium")),
        "Q1 answered: 24 hours. [dissent: Ops: Q1: too long]"
    );
    assert_eq!(
        first(dissent("Q2: not so", "high")),
        "Q1 answered: 24 hours."
    );
    assert_eq!(
        first(dissent("Q1: too long", "low")),
        "Q1 answered: 24 hours."
    );
    assert_eq!(
        first(dissent("I doubt it", "medium")),
        "Q1 answered: 24 hours."
    );
    assert_eq!(
        first(dissent("All of it is wrong", "high")),
        "Q1 answered: 24 hours. [dissent: Ops: All of it is wrong]"
    );
    assert_eq!(
        of(dissent("I doubt it", "medium"), &single()),
        "Q1 answered: 24 hours. [dissent: Ops: I doubt it]"
    );
}

#[test]
fn a_verdict_that_did_not_hold_is_disputed() {
    let fields = json!({"judge_consistent": false});
    let shown = shown(&[verdict(JUDGED)], &fields);
    assert!(
        shown.starts_with("Q1 answered: 24 hours. [dissent: the judge's second pass"),
        "{shown}"
    );
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
    let silent = record(&[verdict(" ")], &json!({}));
    assert!(matches!(
        findings_of(&silent, &batch()),
        Err(NoAnswer::Failed { .. })
    ));
}

#[test]
fn an_extraction_is_read_from_all_of_an_answer() {
    let fields = json!({
        "agent_id": "ops",
        "position": "HIGH: Tokens are signed.",
        "key_points": ["MEDIUM: Postgres", "OPEN: Who pays?"],
    });
    let extracted = extracted_items(&record(&[artifact("independent", 1, &fields)], &json!({})));
    let extracted = extracted.unwrap();
    assert_eq!(extracted.high, ["Tokens are signed."]);
    assert_eq!(extracted.medium, ["Postgres"]);
    assert_eq!(extracted.open, ["Who pays?"]);
    let none = extracted_items(&record(&[], &json!({})));
    assert_eq!(none, Err(ExtractionError::NoAnswer));
}

#[test]
fn key_points_without_labels_are_claims_and_questions() {
    let extracted = |position: &str, key_points: &[&str]| {
        let fields = json!({"agent_id": "ops", "position": position, "key_points": key_points, "confidence": 0.9});
        let record = record(&[artifact("independent", 1, &fields)], &json!({}));
        extracted_items(&record).map(|items| (items.high, items.medium, items.open))
    };
    let texts =
        |texts: &[&str]| -> Vec<String> { texts.iter().map(|text| (*text).to_owned()).collect() };
    let items = |medium: &[&str], open: &[&str]| Ok((Vec::new(), texts(medium), texts(open)));
    let about = "The document is about sessions.";
    for (position, key_points, expected) in [
        (
            about,
            &["Sessions last 24 hours.", "Who pays?"] as &[&str],
            items(&["Sessions last 24 hours."], &["Who pays?"]),
        ),
        (
            about,
            &[
                "1. `walkdir` walks a directory",
                "- **Who pays?**",
                "\"Who signs?\"",
            ],
            items(
                &["`walkdir` walks a directory"],
                &["Who pays?", "Who signs?"],
            ),
        ),
        (
            about,
            &[
                "Efficiency: it is fast.",
                "Efficiency: it is fast",
                "谁付款？",
            ],
            items(&["Efficiency: it is fast."], &["谁付款？"]),
        ),
        (
            "",
            &["Sessions last 24 hours."],
            items(&["Sessions last 24 hours."], &[]),
        ),
        ("Who pays?", &[], Err(ExtractionError::NoLines)),
        (
            about,
            &["", " - ", "none", "n/a", "Unknown.", "…"],
            Err(ExtractionError::NoLines),
        ),
        (
            about,
            &[
                "OPEN:",
                "HIGH",
                "OPEN: none",
                "MEDIUM: <a fact>",
                "<a fact>",
            ],
            Err(ExtractionError::NoLines),
        ),
        (
            about,
            &[
                "a statement that the document treats as settled",
                "A question that it asks or leaves open, or a contradiction in it.",
            ],
            Err(ExtractionError::NoLines),
        ),
        (
            "OPEN: Who pays?",
            &["The document has one question."],
            items(&[], &["Who pays?"]),
        ),
        (
            about,
            &["Sessions last 24 hours.", "OPEN: Who pays?"],
            items(&[], &["Who pays?"]),
        ),
    ] {
        assert_eq!(extracted(position, key_points), expected, "{key_points:?}");
    }
}

#[test]
fn key_points_without_labels_are_bounded() {
    let points: Vec<String> = (0..100).map(|number| format!("Fact {number}.")).collect();
    let fields = json!({"agent_id": "ops", "position": "", "key_points": points});
    let record = record(&[artifact("independent", 1, &fields)], &json!({}));
    let extracted = extracted_items(&record).unwrap();
    assert_eq!(extracted.medium.len(), ExtractionForm::MOST_LINES);
    assert_eq!(extracted.medium[0], "Fact 0.");
}
