//! Whether a position changed is judged alike in the report, the page, the record and the index:
//! the comparison alone says so, never an expert's own statement.

use conclave::domain::answer::artifact::{Content, Magnitude};
use conclave::domain::record::stored_record::StoredRecord;
use conclave::domain::time::Timestamp;
use conclave::records::index::extract;
use conclave::terminal::document::screen;
use conclave::terminal::output::style::Paint;
use conclave::terminal::report::page;
use conclave::terminal::report::{NextSteps, ReportSelection, markdown, report, summary};
use rusqlite::types::Value as Column;
use serde_json::Value;

use super::{content, contents};
use crate::consultation::prelude::*;
use crate::records::index::column;
use crate::support::comparison::debate_events;

/// Returns a log in which the comparison contradicts two experts: the security expert says that it
/// held a position that changed, and the architect says that it changed one that is the same.
fn contradicted() -> Vec<Envelope> {
    let mut log = debate_events();
    for content in contents(&mut log) {
        match content {
            Content::Revision(revision) => {
                revision.changed = Some(revision.agent_id.as_str() == "architecture");
            }
            Content::Comparison(comparison) => {
                for compared in &mut comparison.comparisons {
                    if compared.pair == "architecture" {
                        compared.magnitude = Magnitude::Same;
                    }
                }
            }
            _ => {}
        }
    }
    log
}

fn without_comparison(mut log: Vec<Envelope>) -> Vec<Envelope> {
    log.retain(|envelope| content(envelope).is_none_or(|content| content.comparison().is_none()));
    log
}

/// Returns a log in which each expert makes the same statement.
fn with_statement(mut log: Vec<Envelope>, changed: bool) -> Vec<Envelope> {
    for content in contents(&mut log) {
        if let Content::Revision(revision) = content {
            revision.changed = Some(changed);
        }
    }
    log
}

fn record(log: &[Envelope]) -> StoredRecord {
    Transcript::fold(log).unwrap().stored_record()
}

/// Returns the report's section on changes.
fn changes_section(record: &StoredRecord) -> String {
    let report = report(record);
    let (_, section) = report.split_once("## Changes\n\n").unwrap();
    let (section, _) = section.split_once("\n\n## ").unwrap();
    section.to_owned()
}

/// Returns the report's part on Round 3.
fn round_3(record: &StoredRecord) -> String {
    let selection = ReportSelection {
        round: Some(3),
        agent: None,
    };
    markdown(record, &selection)
}

/// Returns what the page says of an expert's position in Round 3.
fn on_page(record: &StoredRecord, name: &str) -> String {
    let page = page(record);
    let (_, section) = page.split_once("<h2>Changes</h2>").unwrap();
    let (_, stated) = section
        .split_once(&format!("<strong><bdi>{name}</bdi></strong> <bdi>"))
        .unwrap();
    stated.split_once("</bdi>").unwrap().0.to_owned()
}

/// Returns `perspectives[].changed` in the panel's order.
fn stored_changes(log: &[Envelope]) -> Vec<Value> {
    let written = record_json(&Transcript::fold(log).unwrap());
    let perspectives = written["perspectives"].as_array().unwrap();
    perspectives
        .iter()
        .map(|perspective| perspective["changed"].clone())
        .collect()
}

/// Returns the numbers of compared and of changed experts in the index.
fn counted(record: &StoredRecord) -> [i64; 2] {
    let row = extract::rows(record, Timestamp(0)).consultation;
    ["experts_heard", "experts_changed"].map(|name| match column(&row, name) {
        Column::Integer(number) => *number,
        other => panic!("{name}: {other:?}"),
    })
}

#[test]
fn every_view_follows_the_comparison_against_the_experts_words() {
    let log = contradicted();
    let record = record(&log);
    let section = changes_section(&record);
    let headline = "1 of 3 experts changed its mind.\n\n";
    assert!(section.starts_with(headline), "{section}");
    let moved = "**Security Expert** changed its mind, a ";
    assert!(section.contains(moved), "{section}");
    let expected = "\n**Architect** held its position";
    assert!(section.contains(expected), "{section}");
    let part = round_3(&record);
    assert!(part.contains(moved), "{part}");
    assert!(part.contains("**Architect** held its position"), "{part}");

    let expected = "changed its mind, a significant change";
    assert_eq!(on_page(&record, "Security Expert"), expected);
    assert_eq!(on_page(&record, "Architect"), "held its position");
    assert_eq!(on_page(&record, "Pragmatist"), "held its position");

    assert_eq!(stored_changes(&log), [true, false, false]);
    let written = record_json(&Transcript::fold(&log).unwrap());
    let analyses = &written["debate_value_analysis"]["agent_analyses"];
    assert_eq!(analyses[0]["position_changed"], true);
    assert_eq!(analyses[1]["position_changed"], false);
    assert_eq!(counted(&record), [3, 1]);
}

#[test]
fn nothing_is_claimed_where_nothing_was_compared() {
    let log = without_comparison(contradicted());
    let record = record(&log);
    let section = changes_section(&record);
    let headline = "No expert is known to have changed its mind; positions were not compared: ";
    assert!(section.starts_with(headline), "{section}");
    let expected = "\n\n**Architect** after Round 3 (confidence ";
    assert!(section.contains(expected), "{section}");
    assert!(!section.contains("says it"), "{section}");
    assert!(round_3(&record).contains("**Security Expert** after Round 3 ("));
    assert_eq!(on_page(&record, "Architect"), "after Round 3");
    assert_eq!(on_page(&record, "Pragmatist"), "held its position");
    assert_eq!(
        stored_changes(&log),
        [Value::Null, Value::Null, false.into()]
    );
}

#[test]
fn every_view_calls_a_refinement_a_refinement() {
    let mut log = contradicted();
    for content in contents(&mut log) {
        if let Content::Comparison(comparison) = content {
            for compared in &mut comparison.comparisons {
                compared.magnitude = Magnitude::MinorRefinement;
            }
        }
    }
    let record = record(&log);
    let section = changes_section(&record);
    let headline = "No expert changed its mind, 2 refined their positions.\n\n";
    assert!(section.starts_with(headline), "{section}");
    assert_eq!(on_page(&record, "Architect"), "refined its position");
    let shown = summary(&record, &NextSteps::None);
    let shown = screen(&shown, Some(101), Paint::PLAIN);
    let refined = "Security Expert, Architect refined their positions";
    assert!(shown.contains(refined), "{shown}");
    assert_eq!(stored_changes(&log), [false, false, false]);
    assert_eq!(counted(&record), [3, 0]);
    let written = record_json(&Transcript::fold(&log).unwrap());
    assert_eq!(written["perspectives"][1]["refined"], true);
    let value = &written["debate_value_analysis"];
    assert_eq!(value["agents_changed_position"], 2);
    assert_eq!(value["agent_analyses"][1]["position_changed"], true);
}

#[test]
fn failed_comparison_leaves_all_but_repeated_positions_unknown() {
    let log = with_statement(without_comparison(debate_events()), true);
    let record = record(&log);
    assert_eq!(counted(&record)[0], 0);
    let written = record_json(&Transcript::fold(&log).unwrap());
    let unchanged_words = &written["debate_value_analysis"]["agent_analyses"][2];
    assert_eq!(unchanged_words["change_magnitude"], "same");
    assert_eq!(unchanged_words["position_changed"], false);
    let other_words = &written["debate_value_analysis"]["agent_analyses"][0];
    assert_eq!(other_words["position_changed"], Value::Null);
    assert_eq!(on_page(&record, "Pragmatist"), "held its position");
    assert_eq!(
        stored_changes(&log),
        [Value::Null, Value::Null, false.into()]
    );
}

#[test]
fn panel_without_changes_is_described_as_such() {
    let mut all_same = with_statement(debate_events(), true);
    for content in contents(&mut all_same) {
        if let Content::Comparison(comparison) = content {
            for compared in &mut comparison.comparisons {
                compared.magnitude = Magnitude::Same;
            }
        }
    }
    let section = changes_section(&record(&all_same));
    let headline = "No expert changed its mind.\n\n**Security Expert** held its position (";
    assert!(section.starts_with(headline), "{section}");
}

#[test]
fn reread_record_gives_the_same_judgement() {
    let log = contradicted();
    let record = record(&log);
    let reread: StoredRecord =
        serde_json::from_value(record_json(&Transcript::fold(&log).unwrap())).unwrap();
    assert_eq!(reread.position_changes(), record.position_changes());
    assert_eq!(changes_section(&reread), changes_section(&record));
}
