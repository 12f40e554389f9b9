//! Journals and records of earlier versions are read. A fixture never changes: a new version adds
//! one.

use std::path::Path;

use conclave::consultation::event::{AbortReason, CallEvent, ConsultationEvent, Event};
use conclave::consultation::machine::replay::{ReplayError, replay};
use conclave::consultation::transcript::Transcript;
use conclave::domain::confidence::Confidence;
use conclave::records::context_file;
use conclave::records::journal::read_journal;
use conclave::records::stored;

use crate::support::record_json;

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/records/fixtures")
        .join(name)
}

#[test]
fn a_journal_of_version_1_0_is_read() {
    let read = read_journal(&fixture("journal-1.0.jsonl")).unwrap();
    let transcript = Transcript::fold(&read.events).unwrap();
    assert_eq!(
        transcript.verdict().unwrap().recommendation,
        "Use OAuth 2.0 with JWT access tokens."
    );
    assert_eq!(record_json(&transcript)["status"], "degraded");
}

#[test]
fn a_record_of_version_1_0_is_read() {
    let record = stored::read_file(&fixture("record-1.0.json")).unwrap();
    assert_eq!(record.id, "consult-01kaj0sample0000000000000");
    assert_eq!(record.status.as_deref(), Some("degraded"));
    assert_eq!(record.confidence, Confidence::new(0.85));
    assert_eq!(
        record.recommendation.as_deref(),
        Some("Use OAuth 2.0 with JWT access tokens.")
    );
}

/// Its label order came from a generator that no longer exists, so it is shown but not drawn again.
#[test]
fn a_journal_of_version_1_1_is_read_and_cannot_be_resumed() {
    let read = read_journal(&fixture("journal-1.1.jsonl")).unwrap();
    let transcript = Transcript::fold(&read.events).unwrap();
    assert_eq!(
        transcript.abort.as_ref().unwrap().reason,
        AbortReason::Interrupted
    );
    assert_eq!(
        record_json(&transcript)["completed_rounds"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(
        record_json(&transcript)["expert_order"],
        serde_json::json!(["architecture", "security", "pragmatic"])
    );
    assert_eq!(replay(&read.events).unwrap_err(), ReplayError::OlderVersion);
}

/// Its calls and terms name the token limit `room`, and its label order came from a generator that
/// no longer exists.
#[test]
fn a_journal_of_version_1_2_is_read_and_cannot_be_resumed() {
    let read = read_journal(&fixture("journal-1.2.jsonl")).unwrap();
    let limits: Vec<u64> = read
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::Call(CallEvent::Started {
                max_output_tokens, ..
            }) => Some(*max_output_tokens),
            _ => None,
        })
        .collect();
    assert_eq!(limits, [16_384; 9]);
    let transcript = Transcript::fold(&read.events).unwrap();
    let plan = transcript.terms.plan.as_deref().unwrap();
    let judge = plan.terms(transcript.judge().unwrap());
    assert_eq!(judge.max_output_tokens, 16_384);
    assert_eq!(judge.output_limit, 128_000);
    let record = record_json(&transcript);
    assert_eq!(record["status"], "complete");
    assert_eq!(record["question"], "Should I use OAuth or JWT?");
    assert_eq!(record["completed_rounds"].as_array().unwrap().len(), 4);
    assert_eq!(
        replay(&read.events).unwrap_err().to_string(),
        "it was written by an older version and cannot be resumed"
    );
}

/// Its plan names the context, whose text lies in a file of its own.
#[test]
fn a_journal_of_version_1_3_names_its_context() {
    let journal = fixture("journal-1.3.jsonl");
    let mut read = read_journal(&journal).unwrap();
    let transcript = Transcript::fold(&read.events).unwrap();
    let plan = transcript.terms.plan.as_deref().unwrap();
    let context = plan.context.as_deref().unwrap();
    assert_eq!(context.text.as_str(), "", "the journal has no text");
    let text = context_file::read(&fixture("journal-1.3.context"), context).unwrap();
    assert!(text.as_str().contains("We use sessions today."));
    assert!(text.as_str().contains("DB_PASSWORD=[REDACTED_PASSWORD_1]"));
    let journal = std::fs::read_to_string(&journal).unwrap();
    assert!(!journal.contains("We use sessions today."));

    let record = record_json(&transcript);
    let kinds: Vec<&str> = record["context"]["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| source["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["project", "file"]);
    assert_eq!(record["scrubbing_report"]["by_type"]["password"], 2);
    assert_eq!(record["project_context"]["project_type"], "brownfield");
    let schema = include_str!("../../../schemas/consultation.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&record)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new());

    let Event::Consultation(ConsultationEvent::Started(terms)) = &mut read.events[0].event else {
        panic!("the first event has the terms");
    };
    let plan = terms.plan.as_deref_mut().unwrap();
    plan.context.as_deref_mut().unwrap().text = text;
    replay(&read.events).unwrap();
}
