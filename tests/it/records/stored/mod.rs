//! Records read back, whole and damaged.

mod rejections;
mod versions;

use std::path::{Path, PathBuf};

use conclave::consultation::transcript::Transcript;
use conclave::domain::cost::money::Cost;
use conclave::domain::record::stored_record::Completion;
use conclave::records::stored::read;
use serde_json::json;

use crate::support::{record_json, sample_events};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/records/stored/fixtures")
        .join(name)
}

#[test]
fn written_records_are_read_back() {
    for events in sample_events::all() {
        let transcript = Transcript::fold(&events).unwrap();
        let record = read(&serde_json::to_vec_pretty(&record_json(&transcript)).unwrap()).unwrap();
        assert_eq!(record, transcript.stored_record());
        assert_eq!(record.consultation_id(), Some(transcript.id.clone()));
        assert_eq!(record.at, Some(transcript.started_at));
        assert_eq!(record.total_cost(), Some(transcript.total().cost));
        assert_eq!(
            record.total_tokens(),
            Some(transcript.total().tokens.total())
        );
        assert!(record.independents().eq(transcript.independents()));
        assert!(record.revisions().eq(transcript.revisions()));
        assert_eq!(record.synthesis(), transcript.synthesis());
        assert_eq!(record.cross_exam(), transcript.cross_exam());
        assert_eq!(record.verdict(), transcript.verdict());
        assert_eq!(record.agreement, transcript.agreement());
        assert_eq!(record.degradations, transcript.degradations());
        assert_eq!(record.duration(), Some(transcript.duration));
        assert_eq!(record.judge().as_ref(), transcript.judge());
        // The cost of calls that never returned belongs to no agent.
        assert_eq!(
            record
                .agent_rounds()
                .filter_map(|(_, work)| work.total_cost())
                .sum::<Cost>()
                .known,
            transcript.total().cost.known
        );
        let players: Vec<_> = transcript
            .terms
            .panel
            .seats
            .iter()
            .map(|seat| Some(transcript.player(seat).clone()))
            .collect();
        assert_eq!(
            record
                .agents
                .iter()
                .map(|agent| record.model_of(agent))
                .collect::<Vec<_>>(),
            players
        );
    }
}

#[test]
fn value_of_another_type_makes_a_record_unreadable() {
    let whole = Transcript::fold(&sample_events::complete())
        .unwrap()
        .stored_record();
    let mut value = serde_json::to_value(&whole).unwrap();
    value["cost"]["tokens"]["total"] = json!("many");
    let error = read(&serde_json::to_vec(&value).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "it is not a record of a consultation");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("invalid type: string"), "{cause}");
}

#[test]
fn aborted_consultation_states_its_reason_and_phase() {
    let record = Transcript::fold(&sample_events::aborted())
        .unwrap()
        .stored_record();
    assert_eq!(record.completion(), Completion::Aborted);
    assert!(
        record.abort_reason.is_some()
            && record.abort_message.is_some()
            && record.aborted_during.is_some()
    );
}
