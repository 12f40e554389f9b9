//! Records of the original tool, of every version and state.

use std::fs;
use std::time::Duration;

use conclave::domain::confidence::Confidence;
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::stored_record::{Completion, RecordWriter, StoredDebate, StoredRecord};
use conclave::domain::time::Timestamp;
use conclave::records::index::rows::DebateColumns;
use conclave::records::stored;

use super::path;
use crate::records::index::rows;

fn original(name: &str) -> StoredRecord {
    let record = stored::read_file(&path("original").join(name)).unwrap();
    assert_eq!(record.writer, RecordWriter::LlmConclave, "{name}");
    record
}

fn share(confidence: Option<Confidence>) -> Option<f64> {
    confidence.map(Confidence::value)
}

fn panel(record: &StoredRecord) -> Vec<String> {
    record
        .agents
        .iter()
        .map(|agent| {
            let model = record.model_of(agent).unwrap();
            format!("{} {} {model}", agent.id, agent.name)
        })
        .collect()
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
    assert_eq!(record.total_cost(), Some(micro(42_351)));
    assert_eq!(record.total_tokens(), Some(7_030));
    assert_eq!(record.duration(), Some(Duration::from_millis(25_400)));
    assert_eq!(share(record.confidence), Some(0.82));
    assert_eq!(record.agreement, Some(1.0));
    assert_eq!(
        record.recommendation.as_deref(),
        Some("Use Postgres on a managed host.")
    );
    assert_eq!(record.summary.as_deref(), Some("A relational store fits"));
    assert_eq!(
        record.independents().nth(2).unwrap().position,
        "SQLite until it hurts"
    );
    let verdict = record.verdict().unwrap();
    assert_eq!(
        verdict.evidence[0].claim.as_str(),
        "Three agents favour a relational store"
    );
    assert_eq!(verdict.dissent[0].agent.as_str(), "Pragmatist");
    assert_eq!(
        record.cross_exam().unwrap().unresolved,
        ["Who restores at night"]
    );
    assert_eq!(record.project_type(), Some("brownfield"));
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
            .agent_rounds()
            .map(|(round, work)| (round, work.total_tokens()))
            .collect::<Vec<_>>(),
        [(1, Some(610)); 3]
    );
    assert_eq!(
        record.prompt_templates().nth(2).unwrap(),
        ("cross_exam", "1.1")
    );
}

#[test]
fn early_termination_states_its_answer_and_savings() {
    let record = original("early.json");
    assert!(record.early_termination);
    assert_eq!(
        record.early_termination_reason.as_deref(),
        Some("High confidence consensus (93%)")
    );
    assert_eq!(record.cost_saved(), Some(Cost::exactly(MicroUsd(18_000))));
    assert_eq!(
        record.verdict().unwrap().recommendation.as_str(),
        "A relational store fits"
    );
    assert_eq!(share(record.confidence), Some(0.93));
    assert_eq!(record.rounds().count(), 2);
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
    assert_eq!(record.duration(), Some(Duration::from_millis(30_250)));
    assert_eq!(
        record.recommendation.as_deref(),
        Some("One repository with a build cache.")
    );
    let by_provider: Vec<(&str, Cost)> = record
        .cost_by_provider()
        .map(|(provider, cost)| (provider.as_str(), cost))
        .collect();
    assert_eq!(
        by_provider,
        [("openai", micro(5_000)), ("unknown", micro(2_500))]
    );
    assert_eq!(
        record.cross_exam().unwrap().challenges[0].target_agent,
        "architect"
    );
    assert_eq!(
        record.prompt_templates().nth(2).unwrap(),
        ("cross_exam", "2.1")
    );
    assert_eq!(record.total_tokens(), Some(1_200));
}

#[test]
fn confidence_of_zero_counts_only_where_an_answer_states_it() {
    assert_eq!(
        share(original("camel.json").confidence),
        Some(0.0),
        "stated by the verdict of Round 4"
    );
    assert_eq!(
        share(
            original("camel.json")
                .independents()
                .nth(1)
                .unwrap()
                .confidence
        ),
        Some(0.0)
    );
    assert_eq!(
        original("first.json").confidence,
        None,
        "the default of an answer without one"
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
    let dissent = &record.verdict().unwrap().dissent;
    assert_eq!(dissent[0].agent.as_str(), "");
    assert_eq!(dissent[0].concern.as_str(), "Tabs are kinder to readers");
    assert_eq!(
        record.model_of(&record.agents[0]).unwrap().to_string(),
        "anthropic:claude-sonnet-4-5",
        "inferred from the model"
    );
}

#[test]
fn last_whole_line_of_a_cancelled_run_counts() {
    let record = original("partial.jsonl");
    assert_eq!(record.completion(), Completion::Aborted);
    assert_eq!(record.abort_reason.as_deref(), Some("timeout"));
    assert_eq!(record.state.as_deref(), Some("cross_exam"));
    assert_eq!(record.total_cost(), Some(micro(23_100)));
    assert_eq!(record.recommendation.as_deref(), None);
    assert_eq!(
        record.partial_consensus.as_deref(),
        Some("A relational store fits\nBackups come first")
    );
    assert_eq!(
        record
            .rounds()
            .map(|(number, round)| (number, round.is_complete()))
            .collect::<Vec<_>>(),
        [(1, true), (2, true), (3, false)]
    );

    let torn = original("partial-torn.jsonl");
    assert_eq!(torn.abort_reason.as_deref(), Some("user_pulse_cancel"));
    assert_eq!(torn.total_cost(), Some(micro(12_000)));
    let unfinished = torn
        .independents()
        .find(|held| held.agent_id.as_str() == "Architect")
        .unwrap();
    assert_eq!(
        unfinished.position, "Postgres, because",
        "paid text is shown"
    );
}

#[test]
fn sparse_record_is_read_with_gaps() {
    let record = original("sparse.json");
    assert_eq!(record.completion(), Completion::Completed);
    assert_eq!(record.total_cost(), None);
    assert_eq!(record.duration(), None);
    assert_eq!(record.confidence, None);
    assert_eq!(panel(&record), ["Pragmatist Pragmatist xai:grok-3"]);
    assert_eq!(
        record.independents().next().unwrap().position.as_str(),
        "Never on Friday"
    );
    assert_eq!(record.independents().next().unwrap().key_points.len(), 1);
    assert_eq!(
        record.at.map(|at| at.to_string()).as_deref(),
        Some("2025-12-19T10:00:00.000Z")
    );
}

#[test]
fn failed_experts_are_named_with_their_providers_message() {
    let record = original("failed.json");
    assert_eq!(record.completion(), Completion::Aborted);
    assert!(record.verdict().is_none());
    assert_eq!(record.total_cost(), Some(Cost::FREE));
    let failures: Vec<_> = record
        .agent_rounds()
        .map(|(_, work)| (record.name_of(work.agent_id.as_str()), work.failure()))
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
        rows(&bytes, "consult-stem", Timestamp(7))
    };
    let whole = rows("complete.json").unwrap();
    let row = &whole.consultation;
    assert_eq!(row.writer, RecordWriter::LlmConclave);
    assert_eq!(row.completion, Completion::Completed);
    assert_eq!(row.cost, Some(micro(42_351)));
    assert_eq!(row.dissent, Some(1));
    assert_eq!(
        row.debate,
        DebateColumns {
            heard: 3,
            changed: 2,
            rise: 210_000,
            rise_of: 3
        }
    );
    assert_eq!(row.stem, "consult-stem");
    assert_eq!(row.project_type.as_deref(), Some("brownfield"));
    assert_eq!(row.later_rounds, None);
    let agents: Vec<_> = whole
        .agents
        .iter()
        .map(|agent| (agent.provider.as_str(), agent.confidence, agent.agrees))
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

fn micro(usd: u64) -> Cost {
    Cost::exactly(MicroUsd(usd))
}
