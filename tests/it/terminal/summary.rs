//! The summary that is left on the screen, as a terminal shows it.

use conclave::consultation::event::Envelope;
use conclave::consultation::transcript::Transcript;
use conclave::domain::answer::artifact::{Content, Dissent, Severity, Verdict};
use conclave::domain::record::stored_record::{StoredRecord, WhySubstituted};
use conclave::terminal::document;
use conclave::terminal::output::style::Paint;
use conclave::terminal::report::{NextSteps, summary};

use crate::support::comparison::debate_events;
use crate::support::sample_events;
use crate::support::screen::Screen;

const WIDTHS: [u16; 4] = [50, 80, 120, 200];

fn record(events: &[Envelope]) -> StoredRecord {
    Transcript::fold(events).unwrap().stored_record()
}

fn last() -> NextSteps {
    NextSteps::Of("last".to_owned())
}

/// Returns the screen of a terminal after the summary.
fn screen(record: &StoredRecord, width: u16, paint: Paint) -> Screen {
    let mut screen = Screen::new(width, 60);
    let text = document::screen(&summary(record, &last()), Some(width.into()), paint);
    screen.write(text.replace('\n', "\r\n").as_bytes());
    screen
}

/// Returns the screens of terminals of every width.
fn screens(record: &StoredRecord) -> String {
    let screens = WIDTHS.map(|width| {
        let screen = screen(record, width, Paint::PLAIN).contents();
        format!("=== {width} columns\n{screen}\n")
    });
    screens.join("\n")
}

fn verdict_mut(record: &mut StoredRecord) -> &mut Verdict {
    let mut artifacts = record
        .responses
        .values_mut()
        .flat_map(|round| &mut round.artifacts);
    artifacts
        .find_map(|artifact| match &mut artifact.content {
            Content::Verdict(verdict) => Some(verdict),
            _ => None,
        })
        .unwrap()
}

#[test]
fn summary_in_colour_matches_its_snapshot() {
    let record = record(&sample_events::substituted());
    let screens = WIDTHS.map(|width| {
        let screen = screen(&record, width, Paint::COLOUR).styled();
        format!("=== {width} columns\n{screen}\n")
    });
    insta::assert_snapshot!(screens.join("\n"));
}

#[test]
fn summaries_match_their_snapshots() {
    for (name, events) in [
        ("verdict", debate_events()),
        ("provisional_answer", sample_events::provisional()),
        ("degraded_result", sample_events::degraded()),
        ("menu", sample_events::explored()),
        ("positions_of_one_round", sample_events::troubled()),
        ("aborted_run", sample_events::aborted()),
    ] {
        insta::assert_snapshot!(name, screens(&record(&events)));
    }
}

#[test]
fn missing_confidence_is_not_said_to_be_stated() {
    let mut record = record(&sample_events::complete());
    record.confidence = None;
    let text = screen(&record, 80, Paint::PLAIN).contents();
    let words = "\nConfidence  not stated by the judge";
    assert!(text.contains(words), "{text}");
}

#[test]
fn ordinary_answer_ends_within_twenty_lines() {
    for events in [
        sample_events::complete(),
        sample_events::substituted(),
        sample_events::degraded(),
        sample_events::provisional(),
        sample_events::explored(),
        sample_events::troubled(),
        debate_events(),
    ] {
        let text = screen(&record(&events), 80, Paint::PLAIN).contents();
        assert!(text.lines().count() <= 20, "{text}");
    }
}

#[test]
fn long_answer_is_cut_with_a_pointer_to_the_rest() {
    let mut record = record(&sample_events::complete());
    let steps: Vec<String> = (1..=30).map(|step| format!("{step}. Do it.")).collect();
    verdict_mut(&mut record).recommendation = steps.join("\n");
    let text = screen(&record, 80, Paint::PLAIN).contents();
    assert!(
        text.contains("\n12. Do it.\n… 18 more lines: conclave history show last\n"),
        "{text}"
    );
    let unstored = summary(&record, &NextSteps::None);
    let unstored = document::screen(&unstored, Some(80), Paint::PLAIN);
    assert!(unstored.contains("\n… 18 more lines\n"), "{unstored}");
    assert!(!unstored.contains("conclave "), "{unstored}");
}

#[test]
fn long_objection_is_cut_behind_a_word() {
    let mut record = record(&sample_events::complete());
    verdict_mut(&mut record).dissent = (1..=5)
        .map(|number| Dissent {
            agent: "pragmatic".to_owned(),
            concern: format!(
                "**Objection** {number}. {}",
                "One more thing to run. ".repeat(20)
            ),
            severity: Severity::High,
        })
        .collect();
    let text = screen(&record, 80, Paint::PLAIN).contents();
    let dissent: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("Dissent"))
        .take(13)
        .collect();
    assert_eq!(
        dissent[..5],
        [
            "Dissent     Pragmatist (high): Objection 1. One more thing to run. One more",
            "            thing to run. One more thing to run. One more thing to run. One",
            "            more thing to run. One more thing to run. One more thing to run.",
            "            One more thing to run. One more thing to run. One more thing to …",
            "            Pragmatist (high): Objection 2. One more thing to run. One more",
        ]
    );
    assert_eq!(dissent[12], "            … 2 more");
}

#[test]
fn hostile_answer_stays_within_the_width_and_controls_nothing() {
    for width in [20, 50, 80] {
        for events in [sample_events::hostile(), sample_events::explored_hostile()] {
            let summary = summary(&record(&events), &last());
            let text = document::screen(&summary, Some(width), Paint::PLAIN);
            for line in text.lines() {
                assert!(!line.contains('\u{1b}'), "{line}");
                let is_command = line.contains("conclave ") || line.contains("more lines");
                assert!(
                    is_command || console::measure_text_width(line) < width,
                    "{width}: {line}"
                );
            }
        }
    }
}

#[test]
fn hedged_agent_is_named_above_the_answer() {
    let mut record = record(&sample_events::substituted());
    let agent = record.substitutions[0].agent.clone();
    record.substitutions[0].of.reason = WhySubstituted::Hedge;
    let screen = screen(&record, 120, Paint::PLAIN).contents();
    let (above, _) = screen.split_once("Answer").unwrap();
    assert!(above.contains(&format!("{agent} answered by ")), "{screen}");
    assert!(above.contains("(hedged)"), "{screen}");
}
