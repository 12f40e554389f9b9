//! The journal has every event that was accepted, and reports a torn tail.

mod ends;
mod reopen;

use std::fs;
use std::path::Path;

use conclave::consultation::event::Envelope;
use conclave::consultation::transcript::Transcript;
use conclave::engine::ports::Subscriber;
use conclave::files::log::LogError;
use conclave::records::files::events_file::EventsFile;
use conclave::records::files::{ConsultationFiles, log_notice};
use conclave::records::journal::{Journal, read_journal};

use crate::support::sample_events;

fn written(folder: &Path, events: &[Envelope]) -> ConsultationFiles {
    let files =
        ConsultationFiles::in_folder(&folder.join("consult-logs"), &events[0].consultation_id);
    let mut journal = Journal::create(&files.journal).unwrap();
    for event in events {
        journal.event(event).unwrap();
    }
    journal.finish().unwrap();
    files
}

#[test]
fn every_event_is_in_the_journal_and_the_events_file_at_once() {
    for events in [
        sample_events::complete(),
        sample_events::degraded(),
        sample_events::aborted(),
        sample_events::hostile(),
    ] {
        let home = tempfile::tempdir().unwrap();
        let [path, copy] = ["consult-x.jsonl", "events.jsonl"].map(|name| home.path().join(name));
        let mut journal = Journal::create(&path).unwrap();
        let mut file = EventsFile::create(&copy).unwrap();
        for (at, event) in events.iter().enumerate() {
            journal.event(event).unwrap();
            file.event(event).unwrap();
            if at % 10 == 0 {
                assert_eq!(read_journal(&path).unwrap(), events[..=at]);
            }
        }
        assert_eq!(read_journal(&copy).unwrap(), events);
        let read = read_journal(&path).unwrap();
        assert_eq!(Transcript::fold(&read), Transcript::fold(&events));
    }
}

#[test]
fn damage_and_other_versions_are_errors_that_name_the_line() {
    let home = tempfile::tempdir().unwrap();
    let path = written(home.path(), &sample_events::aborted()).journal;
    let text = fs::read_to_string(&path).unwrap();
    let second = "{\"schema_version\":\"1.0\",\"seq\":2";
    let other = second.replace("1.0", "9.0");
    fs::write(&path, text.replacen(second, &other, 1)).unwrap();
    let error = read_journal(&path).unwrap_err();
    assert!(
        matches!(&error, LogError::OtherVersion { line: 2, version, .. } if version == "9.0"),
        "{error}"
    );
    fs::write(&path, text.replacen('{', "x", 1)).unwrap();
    assert!(matches!(
        read_journal(&path).unwrap_err(),
        LogError::DamagedLine { line: 1, .. }
    ));
}

#[test]
fn missing_version_of_an_event_or_artifact_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    let path = written(home.path(), &sample_events::aborted()).journal;
    let text = fs::read_to_string(&path).unwrap();
    for (versioned, bare) in [
        ("{\"schema_version\":\"1.0\",\"seq\":2", "{\"seq\":2"),
        (
            "\"artifact\":{\"schema_version\":\"1.0\",",
            "\"artifact\":{",
        ),
    ] {
        assert!(text.contains(versioned), "{versioned}");
        fs::write(&path, text.replacen(versioned, bare, 1)).unwrap();
        let LogError::DamagedLine { source, .. } = read_journal(&path).unwrap_err() else {
            panic!("{versioned}")
        };
        let reason = source.to_string();
        assert!(
            reason.starts_with("Missing required field: schema_version"),
            "{reason}"
        );
    }
}

#[test]
fn journal_has_one_writer_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("consult-x.jsonl");
    let _first = Journal::create(&path).unwrap();
    let notice = log_notice(&Journal::create(&path).unwrap_err());
    assert!(
        notice.starts_with("Failed to write consultation log: there is already a file"),
        "{notice}"
    );
}

#[test]
fn unwritable_folder_is_reported_in_one_line() {
    let home = tempfile::tempdir().unwrap();
    // A file where the folder should be fails for every user, root included.
    fs::write(home.path().join("consult-logs"), "").unwrap();
    let failed = Journal::create(&home.path().join("consult-logs/consult-x.jsonl")).unwrap_err();
    let notice = log_notice(&failed);
    assert!(
        notice.starts_with("Failed to write consultation log: ") && !notice.contains('\n'),
        "{notice}"
    );
}
