//! A reopened journal continues after its last whole event: whole events stay, a torn line is cut,
//! and only one process writes.

use std::fs;
use std::path::{Path, PathBuf};

use conclave::consultation::event::Envelope;
use conclave::engine::ports::Subscriber;
use conclave::files::log::{LockPolicy, LogError};
use conclave::records::journal::{Journal, read_journal};

use crate::support::journals::reopen;
use crate::support::sample_events;

fn write(journal: &mut Journal, events: &[Envelope]) {
    for event in events {
        journal.event(event).unwrap();
    }
    journal.finish().unwrap();
}

/// Writes a journal of these events and closes it.
fn written(folder: &Path, events: &[Envelope]) -> PathBuf {
    let path = folder.join("consult-x.jsonl");
    write(&mut Journal::create(&path).unwrap(), events);
    path
}

fn refused(path: &Path) -> LogError {
    Journal::reopen(path, LockPolicy::Refuse).unwrap_err()
}

#[test]
fn events_after_reopening_follow_the_earlier_ones() {
    let home = tempfile::tempdir().unwrap();
    let events = sample_events::complete();
    for count in [1, 2, events.len() - 1] {
        let path = written(home.path(), &events[..count]);
        let (mut journal, read) = reopen(&path);
        assert_eq!(read, events[..count]);
        write(&mut journal, &events[count..]);
        let again = read_journal(&path).unwrap();
        assert_eq!(again, events.clone());
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn reopening_cuts_a_torn_line_and_adds_a_missing_line_break() {
    let home = tempfile::tempdir().unwrap();
    let events = sample_events::aborted();
    let path = written(home.path(), &events);
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    let ends = (last..whole.len()).step_by(31);
    for end in ends.chain(whole.len() - 2..=whole.len()) {
        fs::write(&path, &whole[..end]).unwrap();
        let count = if end >= whole.len() - 1 {
            events.len()
        } else {
            events.len() - 1
        };
        let read = read_journal(&path).unwrap();
        assert_eq!(read, events[..count], "cut at {end}");
        let (mut journal, read) = reopen(&path);
        assert_eq!(read, events[..count], "cut at {end}");
        write(&mut journal, &events[count..]);
        assert_eq!(fs::read(&path).unwrap(), whole, "cut at {end}");
    }
}

#[test]
fn locked_journal_is_refused_until_its_lock_is_released() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("consult-x.jsonl");
    let events = sample_events::aborted();
    let mut first = Journal::create(&path).unwrap();
    write(&mut first, &events);
    for unlocked in [LockPolicy::Refuse, LockPolicy::Trust] {
        let busy = Journal::reopen(&path, unlocked).unwrap_err();
        assert!(matches!(busy, LogError::Busy(_)), "{busy}");
        assert_eq!(
            busy.to_string(),
            format!("`{}` is being written by another process", path.display())
        );
    }
    drop(first);
    let (_second, read) = reopen(&path);
    assert_eq!(read, events);
    assert!(
        matches!(refused(&path), LogError::Busy(_)),
        "the reopened journal is locked as well"
    );
}

#[test]
fn a_journal_that_is_left_is_whole_and_unlocked_at_once() {
    let home = tempfile::tempdir().unwrap();
    let events = sample_events::aborted();
    for at in 0..5 {
        let path = home.path().join(format!("consult-{at}.jsonl"));
        let mut journal = Journal::create(&path).unwrap();
        for event in &events {
            journal.event(event).unwrap();
        }
        drop(journal);
        assert_eq!(reopen(&path).1, events);
    }
}

#[test]
fn missing_or_damaged_journal_is_refused_and_unchanged() {
    let home = tempfile::tempdir().unwrap();
    let path = written(home.path(), &sample_events::aborted());
    let text = fs::read_to_string(&path).unwrap();
    let damaged = text.replacen("\"seq\":3", "\"seq\":three", 1) + "{\"torn";
    fs::write(&path, &damaged).unwrap();
    let error = refused(&path);
    assert!(
        matches!(&error, LogError::DamagedLine { line: 3, .. }),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        format!("line 3 of `{}` is not an event", path.display())
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), damaged);

    let missing = home.path().join("consult-y.jsonl");
    assert!(matches!(refused(&missing), LogError::Missing(_)));
    assert!(!missing.exists());
    assert!(
        matches!(refused(home.path()), LogError::Write(_)),
        "a folder is no journal"
    );
}

#[test]
fn journal_without_a_whole_event_is_empty() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("consult-x.jsonl");
    for text in ["", "{", "{\"schema_version\":\"1.1\",\"seq\":1"] {
        fs::write(&path, text).unwrap();
        let (mut journal, read) = reopen(&path);
        journal.finish().unwrap();
        assert_eq!(read.len(), 0, "{text}");
        assert_eq!(fs::metadata(&path).unwrap().len(), 0, "{text}");
    }
}
