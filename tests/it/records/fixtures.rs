//! Journals and records of every version are read. A fixture of a released version never changes.

use std::path::Path;

use conclave::consultation::event::{ConsultationEvent, Event};
use conclave::consultation::machine::replay::replay;
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

/// Its plan names the context, whose text lies in a file of its own.
#[test]
fn a_journal_of_version_1_0_names_its_context() {
    let journal = fixture("journal-1.0.jsonl");
    let mut read = read_journal(&journal).unwrap();
    let transcript = Transcript::fold(&read).unwrap();
    let plan = transcript.terms.plan.as_deref().unwrap();
    let context = plan.context.as_deref().unwrap();
    assert_eq!(context.text.as_str(), "", "the journal has no text");
    let text = context_file::read(&fixture("journal-1.0.context"), context).unwrap();
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

    let Event::Consultation(ConsultationEvent::Started(terms)) = &mut read[0].event else {
        panic!("the first event has the terms");
    };
    let plan = terms.plan.as_deref_mut().unwrap();
    plan.context.as_deref_mut().unwrap().text = text;
    replay(&read).unwrap();
}
