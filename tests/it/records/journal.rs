//! The journal has every event that was accepted, and reports a torn tail.

use std::fs;
use std::path::Path;

use conclave::consultation::event::Envelope;
use conclave::consultation::transcript::Transcript;
use conclave::engine::ports::Subscriber;
use conclave::files::log::LogError;
use conclave::records::events_file::EventsFile;
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
fn a_journal_read_back_gives_the_same_transcript() {
    for events in [
        sample_events::complete(),
        sample_events::degraded(),
        sample_events::aborted(),
        sample_events::hostile(),
    ] {
        let home = tempfile::tempdir().unwrap();
        let read = read_journal(&written(home.path(), &events).journal).unwrap();
        assert_eq!(&read, &events);
        assert_eq!(Transcript::fold(&read), Transcript::fold(&events));
    }
}

#[test]
fn event_is_in_the_file_when_the_call_returns() {
    let home = tempfile::tempdir().unwrap();
    let events = sample_events::complete();
    let path = home.path().join("consult-x.jsonl");
    let mut journal = Journal::create(&path).unwrap();
    for (at, event) in events.iter().enumerate() {
        journal.event(event).unwrap();
        assert_eq!(read_journal(&path).unwrap().len(), at + 1);
    }
}

#[test]
fn a_journal_cut_in_its_tail_loses_at_most_its_last_event() {
    let home = tempfile::tempdir().unwrap();
    let events = sample_events::aborted();
    let path = written(home.path(), &events).journal;
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    for end in last..=whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let read = read_journal(&path).unwrap();
        // Only its line break may be missing from a line that counts.
        let count = if end >= whole.len() - 1 {
            events.len()
        } else {
            events.len() - 1
        };
        assert_eq!(read, events[..count], "cut at {end}");
    }
}

#[test]
fn damage_and_other_versions_are_errors_that_name_the_line() {
    let home = tempfile::tempdir().unwrap();
    let path = written(home.path(), &sample_events::aborted()).journal;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replacen(
            "{\"schema_version\":\"1.0\",\"seq\":2",
            "{\"schema_version\":\"9.0\",\"seq\":2",
            1,
        ),
    )
    .unwrap();
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

#[test]
fn missing_folder_permission_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o500)).unwrap();
    match Journal::create(&home.path().join("consult-logs/consult-x.jsonl")) {
        Err(failed) => assert!(
            log_notice(&failed).contains("no permission to write"),
            "{}",
            log_notice(&failed)
        ),
        // The superuser may write anywhere.
        Ok(_) => assert!(
            fs::metadata("/proc/self")
                .is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
        ),
    }
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn events_file_has_every_event_as_a_line() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("events.jsonl");
    let events = sample_events::complete();
    let mut file = EventsFile::create(&path).unwrap();
    for event in &events {
        file.event(event).unwrap();
    }
    assert_eq!(read_journal(&path).unwrap(), events);
}
