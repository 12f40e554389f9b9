//! Consultations are found by the names of their journals, and how each ended by a look at its
//! tail.

use std::fs;
use std::path::{Path, PathBuf};

use conclave::consultation::event::{AbortReason, CallEvent, Envelope, Event, SCHEMA_VERSION};
use conclave::domain::time::Timestamp;
use conclave::records::files::ConsultationFiles;
use conclave::records::lookup::{Ending, Opening, ending, newest_first, opening};

use crate::support::sample_events;

fn lines(events: &[Envelope]) -> String {
    events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap() + "\n")
        .collect()
}

fn kept(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("consult-x.jsonl");
    fs::write(&path, text).unwrap();
    path
}

fn ending_of(text: &str) -> Ending {
    let home = tempfile::tempdir().unwrap();
    ending(&kept(home.path(), text)).unwrap()
}

fn up_to(text: &str, end: usize) -> &str {
    text.get(..end).expect("a whole character")
}

#[test]
fn the_newest_comes_first_and_other_files_are_no_consultations() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(newest_first(&home.path().join("nowhere")).unwrap(), []);
    for name in [
        "consult-01a.jsonl",
        "consult-01c.jsonl",
        "consult-01b.jsonl",
        "consult-01d.json",
        "notes.jsonl",
        "consult-.jsonl",
    ] {
        fs::write(home.path().join(name), "").unwrap();
    }
    let found: Vec<String> = newest_first(home.path())
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, ["consult-01c", "consult-01b", "consult-01a"]);
    newest_first(&home.path().join("notes.jsonl")).unwrap_err();
}

#[test]
fn a_tail_tells_how_it_ended_at_every_length() {
    let whole = lines(&sample_events::complete());
    assert_eq!(ending_of(&whole), Ending::Complete);
    assert_eq!(
        ending_of(whole.trim_end()),
        Ending::Complete,
        "only a line break is missing"
    );
    let aborted = lines(&sample_events::aborted());
    assert_eq!(
        ending_of(&aborted),
        Ending::Aborted(AbortReason::Interrupted)
    );
    let last = aborted.trim_end().rfind('\n').unwrap() + 1;
    for end in last..aborted.len() - 1 {
        assert_eq!(
            ending_of(up_to(&aborted, end)),
            Ending::Open,
            "cut at {end}"
        );
    }
    let first = aborted.find('\n').unwrap();
    assert_eq!(
        (
            ending_of(""),
            ending_of(up_to(&aborted, first - 1)),
            ending_of(up_to(&aborted, first))
        ),
        (Ending::Nothing, Ending::Nothing, Ending::Open)
    );
}

#[test]
fn what_follows_an_abort_undoes_it_once_it_is_whole() {
    let aborted = lines(&sample_events::aborted());
    let resumed = aborted
        .lines()
        .last()
        .unwrap()
        .replace("consultation:aborted", "consultation:resumed");
    assert_eq!(
        ending_of(&format!("{aborted}{}", up_to(&resumed, 40))),
        Ending::Aborted(AbortReason::Interrupted)
    );
    assert_eq!(ending_of(&format!("{aborted}{resumed}\n")), Ending::Open);
}

#[test]
fn long_lines_and_long_journals_are_not_read_from_their_beginning() {
    let mut events = sample_events::complete();
    for envelope in &mut events {
        if let Event::Call(CallEvent::Finished(finished)) = &mut envelope.event {
            finished.text = "x".repeat(200_000);
        }
    }
    assert_eq!(ending_of(&lines(&events)), Ending::Complete);
    let last_call = events
        .iter()
        .rposition(|envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_))))
        .unwrap();
    assert_eq!(ending_of(&lines(&events[..=last_call])), Ending::Open);
    let torn = lines(&events[..=last_call]);
    assert_eq!(ending_of(up_to(&torn, torn.len() - 100_000)), Ending::Open);
}

#[test]
fn only_what_kept_enough_and_has_not_been_given_up_can_be_gone_on_with() {
    let current = format!("\"schema_version\":\"{SCHEMA_VERSION}\"");
    for older in ["1.0", "1.1", "1.2"] {
        let journal = lines(&sample_events::aborted())
            .replace(&current, &format!("\"schema_version\":\"{older}\""));
        assert_eq!(ending_of(&journal), Ending::TooOld, "{older}");
    }
    let resumable = [
        Ending::Open,
        Ending::Aborted(AbortReason::CostCeiling),
        Ending::Aborted(AbortReason::JudgeFailed),
    ];
    let not = [
        Ending::Nothing,
        Ending::TooOld,
        Ending::Complete,
        Ending::Aborted(AbortReason::Declined),
        Ending::Aborted(AbortReason::Prompt),
    ];
    assert!(
        resumable.into_iter().all(Ending::is_resumable)
            && !not.into_iter().any(Ending::is_resumable)
    );
}

#[test]
fn a_list_shows_question_and_date_of_the_first_line() {
    let home = tempfile::tempdir().unwrap();
    let files = |path: PathBuf| ConsultationFiles {
        record: path.clone(),
        markdown: path.clone(),
        journal: path,
    };
    let told = opening(&files(kept(home.path(), &lines(&sample_events::aborted()))));
    assert_eq!(
        told,
        Some(Opening {
            at: Timestamp(1_795_249_800_000),
            question: "Should I use OAuth or JWT?".to_owned(),
            mode: Some("converge".to_owned())
        })
    );
    assert_eq!(opening(&files(kept(home.path(), "{\"torn"))), None);
    assert_eq!(opening(&files(home.path().join("nowhere"))), None);
}
