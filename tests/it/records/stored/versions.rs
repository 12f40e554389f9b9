//! Journals and records of every version are read. A fixture of a released version never changes.

use conclave::consultation::event::{ConsultationEvent, Event};
use conclave::consultation::machine::replay::replay;
use conclave::consultation::transcript::Transcript;
use conclave::domain::answer::confidence::Confidence;
use conclave::domain::record::stored_record::Completion;
use conclave::records::files::context_file;
use conclave::records::journal::read_journal;
use conclave::records::stored;

use super::path;
use crate::support::{record_json, schema};

const SCHEMA: &str = include_str!("../../../../schemas/consultation.schema.json");

#[test]
fn a_record_of_version_1_0_is_read() {
    let record = stored::read_file(&path("record-1.0.json")).unwrap();
    assert_eq!(record.id, "consult-01kaj0sample0000000000000");
    assert_eq!(record.status.as_deref(), Some("degraded"));
    assert_eq!(record.completion(), Completion::Completed);
    assert_eq!(record.tool_version.as_deref(), Some("0.1.0"));
    assert_eq!(record.confidence, Confidence::new(0.85));
    let recommendation = "Use OAuth 2.0 with JWT access tokens.";
    assert_eq!(record.recommendation.as_deref(), Some(recommendation));
    let rounds = record
        .rounds()
        .map(|(number, round)| (number, round.complete));
    assert!(rounds.eq([(1, true), (2, true), (3, true), (4, true)]));
    let mut works = record.agent_rounds();
    let (_, failed) = works.find(|(_, work)| work.error.is_some()).unwrap();
    assert_eq!(failed.agent.as_str(), "Pragmatist");
    assert_eq!(failed.failure(), Some("Your credit balance is too low"));
    assert_eq!(record.cost_by_provider().count(), 1);
    let mut templates = record.prompt_templates();
    assert!(templates.any(|template| template == ("converge/independent", "v1.0")));
}

/// Its plan names the context, whose text lies in a file of its own.
#[test]
fn a_journal_of_version_1_0_names_its_context() {
    let journal = path("journal-1.0.jsonl");
    let mut read = read_journal(&journal).unwrap();
    let transcript = Transcript::fold(&read).unwrap();
    let plan = transcript.terms.plan.as_deref().unwrap();
    let context = plan.context.as_deref().unwrap();
    assert_eq!(context.text.as_str(), "", "the journal has no text");
    let text = context_file::read(&path("journal-1.0.context"), context).unwrap();
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
    schema::check(SCHEMA, &record);

    let Event::Consultation(ConsultationEvent::Started(terms)) = &mut read[0].event else {
        panic!("the first event has the terms");
    };
    let plan = terms.plan.as_deref_mut().unwrap();
    plan.context.as_deref_mut().unwrap().text = text;
    replay(&read).unwrap();
}
