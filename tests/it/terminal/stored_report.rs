//! The report of a stored record, whole and in parts.

use std::path::Path;

use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::AgentId;
use conclave::domain::stored_record::StoredRecord;
use conclave::records::stored::read_file;
use conclave::terminal::report::stored::{ReportSelection, markdown};

use crate::support::sample_events;

fn original(name: &str) -> StoredRecord {
    read_file(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/it/records/fixtures/original")
            .join(name),
    )
    .unwrap()
}

fn part(record: &StoredRecord, round: Option<u8>, agent: Option<&str>) -> String {
    markdown(
        record,
        &ReportSelection {
            round,
            agent: agent.map(AgentId::from),
        },
    )
}

#[test]
fn foreign_records_render_like_native_ones() {
    insta::assert_snapshot!(
        "original_complete",
        part(&original("complete.json"), None, None)
    );
    insta::assert_snapshot!(
        "original_partial",
        part(&original("partial.jsonl"), None, None)
    );
    insta::assert_snapshot!(
        "original_failed",
        part(&original("failed.json"), None, None)
    );
}

#[test]
fn stored_menus_and_rule_answers_render_unchanged() {
    for events in [sample_events::explored(), sample_events::composed()] {
        let transcript = Transcript::fold(&events).unwrap();
        let before = conclave::terminal::report::report(&transcript);
        let now = part(&transcript.stored_record(), None, None);
        let answer = |text: &str| {
            text.split_once("\n## ")
                .and_then(|(_, rest)| rest.split_once("## Agent"))
                .unwrap()
                .0
                .to_owned()
        };
        assert_eq!(answer(&now), answer(&before));
        assert_eq!(
            now.contains("**Confidence:** each option has its own"),
            before.contains("**Confidence:** each option has its own")
        );
    }
    let record = Transcript::fold(&sample_events::explored())
        .unwrap()
        .stored_record();
    let last = part(&record, Some(4), None);
    assert!(
        last.contains("### Option 2: Sessions first")
            && last.contains("Confidence: each option has its own"),
        "{last}"
    );
}

#[test]
fn one_round_is_shown_alone() {
    let record = Transcript::fold(&sample_events::complete())
        .unwrap()
        .stored_record();
    let rounds: Vec<String> = (1..=4)
        .map(|round| part(&record, Some(round), None))
        .collect();
    insta::assert_snapshot!("rounds", rounds.join("\n==========\n\n"));
    assert!(part(&record, Some(5), None).contains("_Nothing is recorded in Round 5._"));
}

#[test]
fn one_agent_is_shown_for_all_rounds_or_one() {
    let record = Transcript::fold(&sample_events::complete())
        .unwrap()
        .stored_record();
    insta::assert_snapshot!("agent", part(&record, None, Some("architecture")));
    insta::assert_snapshot!("judge", part(&record, None, Some("judge")));
    let one = part(&record, Some(3), Some("architecture"));
    assert!(
        one.contains("## Round 3")
            && one.contains("changed its mind")
            && !one.contains("## Round 1"),
        "{one}"
    );
    assert!(
        part(&record, Some(2), Some("pragmatic"))
            .contains("_Nothing is recorded of Pragmatist in Round 2._")
    );
}

#[test]
fn hostile_record_text_stays_within_its_section() {
    let record = Transcript::fold(&sample_events::hostile())
        .unwrap()
        .stored_record();
    let headings = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("# ") || line.starts_with("## "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let whole = part(&record, None, None);
    assert_eq!(
        headings(&whole),
        [
            "# Consultation Summary",
            "## Consensus",
            "## Agent Perspectives",
            "## Changes of Mind",
            "## Concerns Raised",
            "## Dissenting Views",
            "## 🎯 Debate Value Analysis"
        ]
    );
    let rounds = [
        "# Consultation Summary",
        "## Round 1: independent answers",
        "## Round 2: synthesis",
        "## Round 3: cross-examination",
        "## Round 4: verdict",
    ];
    assert_eq!(
        headings(&part(&record, None, Some("judge"))),
        [rounds[0], rounds[2], rounds[3], rounds[4]]
    );
    for round in 1..=4u8 {
        let shown = part(&record, Some(round), None);
        assert_eq!(headings(&shown), [rounds[0], rounds[usize::from(round)]]);
        assert!(
            !shown.contains('\u{1b}') && !shown.contains("<script") || shown.contains("\\<script"),
            "{shown}"
        );
    }
}
