//! The report of a stored record, whole and in parts.

use conclave::consultation::event::Envelope;
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::AgentId;
use conclave::domain::record::outcome::{AnswerOutcome, Grade};
use conclave::domain::record::stored_record::StoredRecord;
use conclave::domain::time::Timestamp;
use conclave::records::stored::read;
use conclave::terminal::report::page;
use conclave::terminal::report::{ReportSelection, markdown, report};
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;

use crate::support::sample_events;

fn record(events: &[Envelope]) -> StoredRecord {
    Transcript::fold(events).unwrap().stored_record()
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
fn stored_report_equals_the_printed_one() {
    for events in sample_events::all() {
        // A log can end anywhere; every seventh event is of another kind each time.
        for end in (1..=events.len()).rev().step_by(7) {
            let record = record(&events[..end]);
            let stored = read(&serde_json::to_vec_pretty(&record).unwrap()).unwrap();
            assert_eq!(report(&stored), report(&record));
        }
    }
}

#[test]
fn outcome_has_a_line_of_its_own() {
    let record = record(&sample_events::complete());
    let without_outcome = report(&record);
    let grade = Grade {
        schema_version: "1.0".to_owned(),
        consultation_id: record.consultation_id().unwrap(),
        outcome: AnswerOutcome::Right,
        note: Some("It held.".to_owned()),
        at: Timestamp(0),
    };
    let graded = StoredRecord {
        grade: Some(grade),
        ..record
    };
    let with_outcome = report(&graded);
    let line = with_outcome
        .lines()
        .find(|line| line.starts_with("**Outcome:**"))
        .unwrap();
    assert_eq!(line, "**Outcome:** right: It held.  ");
    assert_eq!(
        with_outcome.replace(&format!("{line}\n"), ""),
        without_outcome
    );
}

#[test]
fn options_of_a_menu_are_shown_in_its_round() {
    let record = record(&sample_events::explored());
    let last = part(&record, Some(4), None);
    assert!(last.contains("### Option 2: Sessions first"), "{last}");
    assert!(
        last.contains("Confidence: each option has its own"),
        "{last}"
    );
}

#[test]
fn one_round_is_shown_alone() {
    let record = record(&sample_events::complete());
    let rounds: Vec<String> = (1..=4)
        .map(|round| part(&record, Some(round), None))
        .collect();
    insta::assert_snapshot!("rounds", rounds.join("\n==========\n\n"));
    assert!(part(&record, Some(5), None).contains("_Nothing is recorded in Round 5._"));
}

#[test]
fn one_agent_is_shown_for_all_rounds_or_one() {
    let record = record(&sample_events::complete());
    insta::assert_snapshot!("agent", part(&record, None, Some("architecture")));
    insta::assert_snapshot!("judge", part(&record, None, Some("judge")));
    let one = part(&record, Some(3), Some("architecture"));
    assert!(
        one.contains("## Round 3")
            && one.contains("**Architect** after Round 3")
            && !one.contains("## Round 1"),
        "{one}"
    );
    assert!(
        part(&record, Some(2), Some("pragmatic"))
            .contains("_Nothing is recorded of Pragmatist in Round 2._")
    );
}

#[test]
fn cost_of_a_part_with_a_lost_call_is_a_lower_bound() {
    let mut record = record(&sample_events::complete());
    let agent = AgentId::from("architecture");
    let cost = record.cost.as_mut().unwrap();
    cost.by_round.get_mut("round_3").unwrap().amount.lower_bound = true;
    cost.by_agent.get_mut(&agent).unwrap().amount.lower_bound = true;
    for (round, agent, is_bound) in [
        (Some(3), None, true),
        (None, Some("architecture"), true),
        (Some(3), Some("architecture"), true),
        (Some(1), Some("architecture"), false),
        (Some(3), Some("security"), false),
        (Some(1), None, false),
    ] {
        let text = part(&record, round, agent);
        assert_eq!(text.contains("**Cost:** ≥ $"), is_bound, "{text}");
    }
    let rows = page(&record)
        .matches("<td class=\"number\"><bdi>≥ $")
        .count();
    assert_eq!(rows, 2, "one row by round and one by agent");
}

#[test]
fn hostile_record_text_stays_within_its_section() {
    let record = record(&sample_events::hostile());
    let headings = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("# ") || line.starts_with("## "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let rounds = [
        "# Consultation",
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

/// Texts that load or link to something where Markdown is rendered, alone or with those around
/// them.
const LIVE: [&str; 10] = [
    "![](http://evil/x.png)",
    "[x](javascript:z)",
    "<img src=x>",
    "<http://evil>",
    "\n\n[Judge]: http://evil",
    "![a",
    "](http://evil)",
    "<!-- `",
    "a | b\n---|---\n` | ![](http://evil) `",
    "[Judge]",
];

/// Appends the texts in turn to every text with a blank, and to every name.
fn enliven(value: &mut Value, live: &mut impl Iterator<Item = &'static str>) {
    match value {
        Value::String(text) if text.contains(' ') || text.starts_with(char::is_uppercase) => {
            text.push_str(live.next().unwrap());
        }
        Value::Array(items) => items.iter_mut().for_each(|item| enliven(item, live)),
        Value::Object(fields) => fields.values_mut().for_each(|field| enliven(field, live)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn rendered_report_loads_nothing_and_has_no_links() {
    for (shift, events) in (0..LIVE.len()).zip(sample_events::all().iter().cycle()) {
        let record = record(events);
        let mut value = serde_json::to_value(&record).unwrap();
        enliven(&mut value, &mut LIVE.into_iter().cycle().skip(shift));
        let record = read(value.to_string().as_bytes()).unwrap();
        for round in [None, Some(1), Some(2), Some(3), Some(4)] {
            let text = part(&record, round, None);
            for dialect in [Options::empty(), Options::all()] {
                let live = Parser::new_ext(&text, dialect).find(|event| {
                    matches!(
                        event,
                        Event::Html(_)
                            | Event::InlineHtml(_)
                            | Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::HtmlBlock)
                    )
                });
                assert_eq!(live, None, "{shift}: {text}");
            }
        }
    }
}
