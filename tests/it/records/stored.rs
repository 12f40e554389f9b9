//! Records are read back whoever wrote them, and whatever has become of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use conclave::consultation::transcript::Transcript;
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::stored_record::{Completion, RecordWriter, StoredDebate, StoredRecord};
use conclave::domain::time::Timestamp;
use conclave::records::index::extract;
use conclave::records::index::rows::DebateColumns;
use conclave::records::record::record;
use conclave::records::stored::{self, RecordReadError, of_transcript, read};
use proptest::prelude::*;

use crate::support::sample_events;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/records/fixtures")
        .join(name)
}

fn original(name: &str) -> StoredRecord {
    let record = stored::read_file(&path("original").join(name)).unwrap();
    assert_eq!(record.writer, RecordWriter::LlmConclave, "{name}");
    record
}

fn share(confidence: Option<conclave::domain::confidence::Confidence>) -> Option<f64> {
    confidence.map(conclave::domain::confidence::Confidence::value)
}

fn panel(record: &StoredRecord) -> Vec<String> {
    record
        .experts
        .iter()
        .map(|expert| {
            format!(
                "{} {} {}",
                expert.id,
                expert.name,
                expert.model.as_ref().unwrap()
            )
        })
        .collect()
}

fn micro(usd: u64) -> Cost {
    Cost::exactly(MicroUsd(usd))
}

#[test]
fn written_records_are_read_back() {
    for events in [
        sample_events::complete(),
        sample_events::degraded(),
        sample_events::aborted(),
        sample_events::all_failed(),
        sample_events::troubled(),
        sample_events::substituted(),
        sample_events::explored(),
        sample_events::composed(),
    ] {
        let transcript = Transcript::fold(&events).unwrap();
        let record = read(&serde_json::to_vec_pretty(&record(&transcript)).unwrap()).unwrap();
        assert_eq!(record, of_transcript(&transcript));
        assert_eq!(record.writer, RecordWriter::Conclave);
        assert_eq!(record.consultation_id(), Some(transcript.id.clone()));
        assert_eq!(record.at, Some(transcript.started_at));
        assert_eq!(record.cost, Some(transcript.total().cost));
        assert_eq!(record.tokens, Some(transcript.total().tokens.total()));
        assert!(record.independents.iter().eq(transcript.independents()));
        assert!(record.revisions.iter().eq(transcript.revisions()));
        assert_eq!(record.synthesis.as_ref(), transcript.synthesis());
        assert_eq!(record.cross_exam.as_ref(), transcript.cross_exam());
        assert_eq!(record.verdict.as_ref(), transcript.verdict());
        assert_eq!(record.confidence, transcript.confidence());
        assert_eq!(record.agreement, transcript.agreement());
        assert_eq!(record.degradations, transcript.degradations());
        assert_eq!(record.duration, Some(transcript.duration));
        assert_eq!(record.judge.as_ref(), transcript.judge());
        // What calls that never came back cost is nobody's work.
        assert_eq!(
            record
                .agent_rounds
                .iter()
                .filter_map(|work| work.cost)
                .sum::<Cost>()
                .known,
            transcript.total().cost.known
        );
        let players: Vec<_> = transcript
            .terms
            .panel
            .seats
            .iter()
            .map(|seat| Some(transcript.player(seat)))
            .collect();
        assert_eq!(
            record
                .experts
                .iter()
                .map(|expert| expert.model.as_ref())
                .collect::<Vec<_>>(),
            players
        );
    }
}

#[test]
fn aborted_consultation_states_its_reason_and_phase() {
    let record = of_transcript(&Transcript::fold(&sample_events::aborted()).unwrap());
    assert_eq!(record.completion(), Completion::Aborted);
    assert!(
        record.abort_reason.is_some()
            && record.abort_message.is_some()
            && record.aborted_during.is_some()
    );
}

#[test]
fn record_of_version_1_0_keeps_its_rounds_and_agents() {
    let record = stored::read_file(&path("record-1.0.json")).unwrap();
    assert_eq!(record.writer, RecordWriter::Conclave);
    assert_eq!(record.completion(), Completion::Completed);
    assert_eq!(record.tool_version.as_deref(), Some("0.1.0"));
    assert_eq!(
        record
            .rounds
            .iter()
            .map(|round| (round.number, round.is_complete))
            .collect::<Vec<_>>(),
        [(1, true), (2, true), (3, true), (4, true)]
    );
    let failed = record
        .agent_rounds
        .iter()
        .find(|work| work.error.is_some())
        .unwrap();
    assert_eq!(failed.name.as_str(), "Pragmatist");
    assert_eq!(
        failed.error.as_deref(),
        Some("Your credit balance is too low")
    );
    assert_eq!(record.by_provider.len(), 1);
    assert!(
        record
            .prompt_versions
            .iter()
            .any(|(name, version)| name == "converge/independent" && version == "v1.0"),
        "{:?}",
        record.prompt_versions
    );
}

#[test]
fn complete_record_of_the_original_is_read() {
    let record = original("complete.json");
    assert_eq!(record.id.as_str(), "consult-m5p2x1-ab12cd3");
    assert_eq!(record.completion(), Completion::Completed);
    assert_eq!(record.mode.as_deref(), Some("converge"));
    assert_eq!(
        record.at.map(|at| at.to_string()).as_deref(),
        Some("2025-12-28T09:00:25.400Z")
    );
    assert_eq!(
        panel(&record),
        [
            "Security Expert Security Expert anthropic:claude-sonnet-4-5",
            "Architect Architect openai:gpt-4o",
            "Pragmatist Pragmatist google:gemini-2.5-pro"
        ]
    );
    assert_eq!(record.cost, Some(micro(42_351)));
    assert_eq!(record.tokens, Some(7_030));
    assert_eq!(record.duration, Some(Duration::from_millis(25_400)));
    assert_eq!(share(record.confidence), Some(0.82));
    assert_eq!(record.agreement, Some(1.0));
    assert_eq!(
        record.recommendation.as_deref(),
        Some("Use Postgres on a managed host.")
    );
    assert_eq!(record.summary.as_deref(), Some("A relational store fits"));
    assert_eq!(record.independents[2].position, "SQLite until it hurts");
    let verdict = record.verdict.as_ref().unwrap();
    assert_eq!(
        verdict.evidence[0].claim.as_str(),
        "Three agents favour a relational store"
    );
    assert_eq!(verdict.dissent[0].agent.as_str(), "Pragmatist");
    assert_eq!(
        record.cross_exam.as_ref().unwrap().unresolved,
        ["Who restores at night"]
    );
    assert_eq!(record.project_type.as_deref(), Some("brownfield"));
    assert_eq!(
        record.debate,
        Some(StoredDebate {
            experts: 3,
            changed: 2,
            rises: vec![0.02, -0.03, 0.22]
        })
    );
    assert_eq!(
        record
            .agent_rounds
            .iter()
            .map(|work| (work.round, work.tokens))
            .collect::<Vec<_>>(),
        [(1, Some(610)); 3]
    );
    assert_eq!(
        record.prompt_versions[2],
        ("cross_exam".to_owned(), "1.1".to_owned())
    );
}

#[test]
fn early_termination_states_its_answer_and_savings() {
    let record = original("early.json");
    let early = record.early_termination.as_ref().unwrap();
    assert_eq!(
        early.reason.as_deref(),
        Some("High confidence consensus (93%)")
    );
    assert_eq!(early.saved, Some(MicroUsd(18_000)));
    assert_eq!(
        record.verdict.as_ref().unwrap().recommendation.as_str(),
        "A relational store fits"
    );
    assert_eq!(share(record.confidence), Some(0.93));
    assert_eq!(record.rounds.len(), 2);
}

#[test]
fn camel_case_record_of_the_original_reads_the_same() {
    let record = original("camel.json");
    assert_eq!(record.id.as_str(), "consult-m5p2x3-camel01");
    assert_eq!(record.completion(), Completion::Completed);
    assert_eq!(
        panel(&record),
        [
            "architect Architect openai:gpt-4o",
            "skeptic Skeptic unknown:o9-mini"
        ]
    );
    assert_eq!(record.agreement, Some(0.5));
    assert_eq!(record.duration, Some(Duration::from_millis(30_250)));
    assert_eq!(
        record.recommendation.as_deref(),
        Some("One repository with a build cache.")
    );
    let by_provider: Vec<(&str, Cost)> = record
        .by_provider
        .iter()
        .map(|(provider, cost)| (provider.as_str(), *cost))
        .collect();
    assert_eq!(
        by_provider,
        [("openai", micro(5_000)), ("unknown", micro(2_500))]
    );
    assert_eq!(
        record.cross_exam.as_ref().unwrap().challenges[0].target_agent,
        "architect"
    );
    assert_eq!(
        record.prompt_versions[2],
        ("cross_exam".to_owned(), "2.1".to_owned())
    );
    assert_eq!(record.tokens, Some(1_200));
}

#[test]
fn confidence_of_zero_counts_only_where_an_answer_states_it() {
    assert_eq!(
        share(original("camel.json").confidence),
        Some(0.0),
        "the verdict of Round 4 says so"
    );
    assert_eq!(
        share(original("camel.json").independents[1].confidence),
        Some(0.0)
    );
    assert_eq!(
        original("first.json").confidence,
        None,
        "written beside an answer that has none"
    );
    assert_eq!(original("partial.jsonl").confidence, None);
}

#[test]
fn record_of_the_originals_first_version_is_read() {
    let record = original("first.json");
    assert_eq!(record.completion(), Completion::Completed);
    assert_eq!(
        record.recommendation.as_deref(),
        Some("Spaces, by a formatter")
    );
    let dissent = &record.verdict.as_ref().unwrap().dissent;
    assert_eq!(dissent[0].agent.as_str(), "");
    assert_eq!(dissent[0].concern.as_str(), "Tabs are kinder to readers");
    assert_eq!(
        record.experts[0].model.as_ref().unwrap().to_string(),
        "anthropic:claude-sonnet-4-5",
        "told by the model"
    );
}

#[test]
fn last_whole_line_of_a_cancelled_run_counts() {
    let record = original("partial.jsonl");
    assert_eq!(record.completion(), Completion::Aborted);
    assert_eq!(record.abort_reason.as_deref(), Some("timeout"));
    assert_eq!(record.state.as_deref(), Some("cross_exam"));
    assert_eq!(record.cost, Some(micro(23_100)));
    assert_eq!(record.recommendation.as_deref(), None);
    assert_eq!(
        record.partial_consensus.as_deref(),
        Some("A relational store fits\nBackups come first")
    );
    assert_eq!(
        record
            .rounds
            .iter()
            .map(|round| (round.number, round.is_complete))
            .collect::<Vec<_>>(),
        [(1, true), (2, true), (3, false)]
    );

    let torn = original("partial-torn.jsonl");
    assert_eq!(torn.abort_reason.as_deref(), Some("user_pulse_cancel"));
    assert_eq!(torn.cost, Some(micro(12_000)));
    let unfinished = torn
        .independents
        .iter()
        .find(|held| held.agent_id.as_str() == "Architect")
        .unwrap();
    assert_eq!(
        unfinished.position, "Postgres, because",
        "what was paid for is shown"
    );
}

#[test]
fn sparse_record_is_read_with_gaps() {
    let record = original("sparse.json");
    assert_eq!(record.completion(), Completion::Completed);
    assert_eq!(record.cost, None);
    assert_eq!(record.duration, None);
    assert_eq!(record.confidence, None);
    assert_eq!(panel(&record), ["Pragmatist Pragmatist xai:grok-3"]);
    assert_eq!(record.independents[0].position.as_str(), "Never on Friday");
    assert_eq!(record.independents[0].key_points.len(), 1);
    assert_eq!(
        record.at.map(|at| at.to_string()).as_deref(),
        Some("2025-12-19T10:00:00.000Z")
    );
}

#[test]
fn failed_experts_are_named_with_their_providers_message() {
    let record = original("failed.json");
    assert_eq!(record.completion(), Completion::Aborted);
    assert!(record.verdict.is_none());
    assert_eq!(record.cost, Some(Cost::FREE));
    let failures: Vec<_> = record
        .agent_rounds
        .iter()
        .map(|work| (record.name_of(work.agent.as_str()), work.error.as_deref()))
        .collect();
    assert_eq!(
        failures,
        [
            ("Security Expert", Some("429 Too many requests")),
            ("Architect", Some("insufficient_quota"))
        ]
    );
}

#[test]
fn index_rows_equal_the_originals_records() {
    let rows = |name: &str| {
        let bytes = fs::read(path("original").join(name)).unwrap();
        extract::rows(&bytes, "consult-stem", Timestamp(7))
            .map(conclave::records::index::rows::Rows::into_owned)
    };
    let whole = rows("complete.json").unwrap();
    let told = &whole.consultation;
    assert_eq!(told.writer, RecordWriter::LlmConclave);
    assert_eq!(told.completion, Completion::Completed);
    assert_eq!(told.cost, Some(micro(42_351)));
    assert_eq!(told.dissent, Some(1));
    assert_eq!(
        told.debate,
        DebateColumns {
            heard: 3,
            changed: 2,
            rise: 210_000,
            rise_of: 3
        }
    );
    assert_eq!(told.stem.as_ref(), "consult-stem");
    assert_eq!(told.project_type.as_deref(), Some("brownfield"));
    assert_eq!(told.later_rounds, None);
    let agents: Vec<_> = whole
        .agents
        .iter()
        .map(|agent| (agent.provider.as_ref(), agent.confidence, agent.agrees))
        .collect();
    assert_eq!(
        agents,
        [
            ("anthropic", Some(0.8), Some(true)),
            ("openai", Some(0.85), Some(true)),
            ("google", Some(0.6), Some(false))
        ]
    );
    let rounds: Vec<_> = whole
        .rounds
        .iter()
        .map(|round| (round.round_type, round.tokens_used, round.cost))
        .collect();
    assert_eq!(
        rounds,
        [
            ("independent", Some(1_830), None),
            ("synthesis", None, None),
            ("cross_exam", None, None),
            ("verdict", None, None)
        ]
    );
    assert!(whole.calls.is_empty());

    let early = rows("early.json").unwrap().consultation;
    assert!(early.early_termination);
    assert_eq!(early.saved_micro_usd, Some(18_000));
    assert_eq!(early.confidence, Some(0.93));
    let cancelled = rows("partial.jsonl").unwrap().consultation;
    assert_eq!(cancelled.completion, Completion::Aborted);
    assert_eq!(cancelled.dissent, None);
    assert_eq!(cancelled.confidence, None);
    assert_eq!(rows("first.json").unwrap().consultation.confidence, None);
    assert!(rows("checkpoint.json").is_err() && rows("index.json").is_err());
}

#[test]
fn files_beside_records_are_no_records() {
    for name in [
        "original/checkpoint.json",
        "original/index.json",
        "journal-1.1.jsonl",
    ] {
        let refused = stored::read_file(&path(name));
        assert!(
            matches!(refused, Err(RecordReadError::NotARecord)),
            "{name}: {refused:?}"
        );
    }
    let outcome = br#"{"schema_version":"1.0","consultation_id":"consult-a","outcome":"right","at":"2026-11-21T08:30:00Z"}"#;
    assert!(matches!(read(outcome), Err(RecordReadError::NotARecord)));
}

#[test]
fn unreadable_record_is_an_error_that_names_it() {
    let deep = "[".repeat(10_000);
    let nested = format!(
        "{{\"consultation_id\":\"consult-a\",\"question\":{}1{}}}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let lines = "{\"a\":".repeat(10_000) + "\n{\"b\":1}\n{";
    let whole = fs::read(path("record-1.0.json")).unwrap();
    let truncated = &whole[..whole.len() / 2];
    let not_text = b"{\"consultation_id\":\"consult-\xff\",\"question\":\"x\"}";
    for bytes in [
        b"".as_slice(),
        b"garbage",
        b"\0\0\0",
        b"\xef\xbb\xbf",
        deep.as_bytes(),
        nested.as_bytes(),
        truncated,
        not_text,
    ] {
        let refused = read(bytes);
        assert!(
            matches!(refused, Err(RecordReadError::NotJson(_))),
            "{refused:?}"
        );
    }
    for bytes in [
        lines.as_bytes(),
        b"null",
        b"[]",
        b"\"x\"",
        b"{}",
        br#"{"consultation_id":7,"question":"x"}"#,
    ] {
        let refused = read(bytes);
        assert!(
            matches!(refused, Err(RecordReadError::NotARecord)),
            "{refused:?}"
        );
    }
    let newer = br#"{"schema_version":"2.0","consultation_id":"consult-a","question":"x","tool_version":"9"}"#;
    assert_eq!(
        read(newer).unwrap_err().to_string(),
        "version `2.0` is newer than this program, which reads `1.0`"
    );
    let also_later = br#"{"schema_version":"1.7","consultation_id":"consult-a","question":"x","tool_version":"9"}"#;
    assert_eq!(read(also_later).unwrap().id, "consult-a");
    assert!(matches!(
        stored::read_file(Path::new("/nowhere")),
        Err(RecordReadError::Io { .. })
    ));
}

#[test]
fn file_too_large_for_a_record_is_not_read() {
    let huge = vec![b' '; (64 << 20) + 1];
    assert!(matches!(read(&huge), Err(RecordReadError::TooLarge)));
}

/// Every place in a JSON value, as a path.
fn places(value: &serde_json::Value, here: &str, found: &mut Vec<String>) {
    found.push(here.to_owned());
    match value {
        serde_json::Value::Object(fields) => fields.iter().for_each(|(name, inner)| {
            places(
                inner,
                &format!("{here}/{}", name.replace('~', "~0").replace('/', "~1")),
                found,
            );
        }),
        serde_json::Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(at, inner)| places(inner, &format!("{here}/{at}"), found)),
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::String(_) => {}
    }
}

fn odd() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::json;
    prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(-1)),
        Just(json!(1e300)),
        Just(json!(u64::MAX)),
        Just(json!("")),
        Just(json!("\u{0}<script>")),
        Just(json!([])),
        Just(json!([[1, "x", {}]])),
        Just(json!({})),
        Just(json!({ "a": { "b": [] } })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn field_of_any_other_type_counts_as_missing(which in 0usize..8, changes in proptest::collection::vec((any::<prop::sample::Index>(), odd()), 1..6)) {
        let names = ["record-1.0.json", "original/complete.json", "original/early.json", "original/camel.json", "original/first.json",
            "original/sparse.json", "original/failed.json", "original/checkpoint.json"];
        let mut value: serde_json::Value = serde_json::from_slice(&fs::read(path(names[which])).unwrap()).unwrap();
        for (place, odd) in changes {
            let mut found = Vec::new();
            places(&value, "", &mut found);
            *value.pointer_mut(&found[place.index(found.len())]).unwrap() = odd;
        }
        let bytes = serde_json::to_vec(&value).unwrap();
        // Neither a panic nor anything worse than a name for it; whatever is read has a page and
        // rows.
        match read(&bytes) {
            Ok(record) => {
                prop_assert!(!record.id.is_empty());
                prop_assert!(conclave::records::page::page(&record).ends_with("</html>\n"));
            }
            Err(refused) => prop_assert!(matches!(refused, RecordReadError::NotARecord | RecordReadError::Newer(_)), "{refused}"),
        }
        let _ = extract::rows(&bytes, "consult-a", Timestamp(0));
    }

    #[test]
    fn changed_or_lost_bytes_never_panic(which in 0usize..3, at in any::<prop::sample::Index>(), byte in any::<u8>(), length in any::<prop::sample::Index>()) {
        let names = ["record-1.0.json", "original/complete.json", "original/partial.jsonl"];
        let mut bytes = fs::read(path(names[which])).unwrap();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        let _ = read(&bytes).map(|record| conclave::records::page::page(&record));
        bytes.truncate(length.index(bytes.len()));
        let _ = read(&bytes);
        let _ = extract::rows(&bytes, "consult-a", Timestamp(0));
    }
}
