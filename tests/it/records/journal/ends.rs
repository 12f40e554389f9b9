//! A journal's last lines state how its consultation ended, its first line the question.

use std::fs;
use std::path::{Path, PathBuf};

use conclave::consultation::event::{AbortReason, CallEvent, Envelope, Event, SCHEMA_VERSION};
use conclave::domain::time::Timestamp;
use conclave::records::journal::ends::{JournalEnding, JournalOpening, ending, opening};

use crate::support::sample_events;

fn lines(events: &[Envelope]) -> String {
    events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap() + "\n")
        .collect()
}

fn journal(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("consult-x.jsonl");
    fs::write(&path, text).unwrap();
    path
}

fn ending_of(text: &str) -> JournalEnding {
    let home = tempfile::tempdir().unwrap();
    ending(&journal(home.path(), text)).unwrap()
}

fn up_to(text: &str, end: usize) -> &str {
    text.get(..end).expect("a whole character")
}

#[test]
fn the_tail_states_the_ending_wherever_it_is_cut() {
    let whole = lines(&sample_events::complete());
    assert_eq!(ending_of(&whole), JournalEnding::Complete);
    assert_eq!(
        ending_of(whole.trim_end()),
        JournalEnding::Complete,
        "only a line break is missing"
    );
    let aborted = lines(&sample_events::aborted());
    assert_eq!(
        ending_of(&aborted),
        JournalEnding::Aborted(AbortReason::Interrupted)
    );
    let last = aborted.trim_end().rfind('\n').unwrap() + 1;
    let ends = (last..aborted.len() - 1).step_by(29);
    for end in ends.chain([last + 1, aborted.len() - 2]) {
        assert_eq!(
            ending_of(up_to(&aborted, end)),
            JournalEnding::Open,
            "cut at {end}"
        );
    }
    let first = aborted.find('\n').unwrap();
    assert_eq!(ending_of(""), JournalEnding::Empty);
    let torn = up_to(&aborted, first - 1);
    assert_eq!(ending_of(torn), JournalEnding::Empty);
    assert_eq!(ending_of(up_to(&aborted, first)), JournalEnding::Open);
}

#[test]
fn a_whole_event_after_an_abort_reopens_the_journal() {
    let aborted = lines(&sample_events::aborted());
    let resumed = aborted
        .lines()
        .last()
        .unwrap()
        .replace("consultation:aborted", "consultation:resumed");
    assert_eq!(
        ending_of(&format!("{aborted}{}", up_to(&resumed, 40))),
        JournalEnding::Aborted(AbortReason::Interrupted)
    );
    assert_eq!(
        ending_of(&format!("{aborted}{resumed}\n")),
        JournalEnding::Open
    );
}

#[test]
fn long_lines_and_journals_are_read_from_the_end_only() {
    let mut events = sample_events::complete();
    for envelope in &mut events {
        if let Event::Call(CallEvent::Finished(finished)) = &mut envelope.event {
            finished.text = "x".repeat(200_000);
        }
    }
    assert_eq!(ending_of(&lines(&events)), JournalEnding::Complete);
    let last_call = events
        .iter()
        .rposition(|envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_))))
        .unwrap();
    assert_eq!(
        ending_of(&lines(&events[..=last_call])),
        JournalEnding::Open
    );
    let torn = lines(&events[..=last_call]);
    assert_eq!(
        ending_of(up_to(&torn, torn.len() - 100_000)),
        JournalEnding::Open
    );
}

#[test]
fn only_open_and_recoverable_journals_of_this_version_are_resumable() {
    let current = format!("\"schema_version\":\"{SCHEMA_VERSION}\"");
    for other in ["0.9", "1.3"] {
        let journal = lines(&sample_events::aborted())
            .replace(&current, &format!("\"schema_version\":\"{other}\""));
        assert_eq!(ending_of(&journal), JournalEnding::OtherVersion, "{other}");
    }
    let resumable = [
        JournalEnding::Open,
        JournalEnding::Aborted(AbortReason::CostCeiling),
        JournalEnding::Aborted(AbortReason::JudgeFailed),
    ];
    let not = [
        JournalEnding::Empty,
        JournalEnding::OtherVersion,
        JournalEnding::Complete,
        JournalEnding::Aborted(AbortReason::Declined),
        JournalEnding::Aborted(AbortReason::Prompt),
    ];
    assert!(resumable.into_iter().all(JournalEnding::is_resumable));
    assert!(!not.into_iter().any(JournalEnding::is_resumable));
}

#[test]
fn the_first_line_states_the_question_and_the_time() {
    let home = tempfile::tempdir().unwrap();
    let first = opening(&journal(home.path(), &lines(&sample_events::aborted())));
    assert_eq!(
        first,
        Some(JournalOpening {
            at: Timestamp(1_795_249_800_000),
            question: "Should I use OAuth or JWT?".to_owned(),
            mode: Some("converge".to_owned()),
            context_bytes: 0,
        })
    );
    assert_eq!(opening(&journal(home.path(), "{\"torn")), None);
    assert_eq!(opening(&home.path().join("nowhere")), None);
}
