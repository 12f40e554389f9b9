//! Consultations without a usable record are indexed from their journals.

use std::fs;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use conclave::domain::ids::ConsultationId;
use conclave::engine::ports::Subscriber;
use conclave::records::index::follow::{self, IndexChange};
use conclave::records::journal::Journal;

use super::rebuild::{AT, empty, id};
use super::{Home, ids};
use crate::support::generated::{GeneratedConsultation, Length, consultations};
use crate::support::journals;

/// A home with a journal of which only a part was written, and no record.
fn killed(seed: u64) -> (Home, GeneratedConsultation) {
    let home = Home::new();
    let one = consultations(seed, 40, Length::Usual)
        .max_by_key(|one| one.events.len())
        .unwrap();
    (home, one)
}

fn write_journal(path: &Path, one: &GeneratedConsultation, events: usize) -> Journal {
    let mut journal = Journal::create(path).unwrap();
    for event in &one.events[..events] {
        journal.event(event).unwrap();
    }
    journal.finish().unwrap();
    journal
}

/// Waits until a journal is let go of. A program that another test starts at this moment has its
/// lock too, until it is itself.
fn until_free(path: &Path) {
    drop(journals::reopen(path));
    while matches!(
        File::open(path).unwrap().try_lock(),
        Err(TryLockError::WouldBlock)
    ) {
        thread::yield_now();
    }
}

#[test]
fn killed_consultation_is_indexed_from_its_journal() {
    let (home, one) = killed(6);
    let path = home.logs().join(format!("{}.jsonl", one.id));
    drop(write_journal(&path, &one, one.events.len() / 2));
    until_free(&path);
    assert_eq!(home.rebuild().indexed, 1);
    let index = home.open();
    let sql =
        "SELECT id || ' ' || ended || ' ' || (SELECT count(*) > 0 FROM calls) FROM consultations";
    assert_eq!(
        ids(&index.connection, sql),
        [format!("{} unfinished 1", one.id)]
    );
}

#[test]
fn consultation_with_a_damaged_record_is_indexed_from_its_journal() {
    let (home, one) = killed(8);
    let journal = home.logs().join(format!("{}.jsonl", one.id));
    drop(write_journal(&journal, &one, one.events.len()));
    until_free(&journal);
    fs::write(home.logs().join(format!("{}.json", one.id)), b"\0\0\0").unwrap();
    let rebuilt = home.rebuild();
    assert_eq!(rebuilt.indexed, 1);
    assert_eq!(rebuilt.skipped, []);
    assert_eq!(
        ids(
            &home.open().connection,
            "SELECT question FROM consultations"
        ),
        [one.record["question"].as_str().unwrap()]
    );
}

#[test]
fn running_consultation_is_indexed_after_its_process_ends() {
    let (home, one) = killed(7);
    let path = home.logs().join(format!("{}.jsonl", one.id));
    let journal = write_journal(&path, &one, one.events.len() / 2);
    assert_eq!(home.rebuild().indexed, 0);
    assert_eq!(home.indexed().len(), 0);
    assert_eq!(home.marked(), vec![one.id.clone()]);
    assert_eq!(
        follow::reconcile(&mut home.open(), &home.logs()).unwrap(),
        0,
        "its process is still there"
    );
    assert_eq!(home.marked().len(), 1);

    drop(journal);
    until_free(&path);
    assert_eq!(
        follow::reconcile(&mut home.open(), &home.logs()).unwrap(),
        1
    );
    assert_eq!(home.indexed(), vec![one.id.clone()]);
    assert_eq!(home.marked(), Vec::<String>::new());
    let brought = home.contents();
    home.rebuild();
    assert_eq!(
        home.contents(),
        brought,
        "as if it had been there from the beginning"
    );
}

#[test]
fn mark_is_removed_with_the_rows_or_without_a_source() {
    let home = empty();
    let one = consultations(8, 1, Length::Short).next().unwrap();
    let mut index = home.open();
    follow::apply(&mut index, &[IndexChange::Begun(id(&one), one.at)]).unwrap();
    assert_eq!(home.marked(), [one.id.as_str()]);
    follow::apply(
        &mut index,
        &[IndexChange::ended(&id(&one), &one.stored(), AT)],
    )
    .unwrap();
    assert_eq!(home.marked(), Vec::<String>::new());

    let gone = ConsultationId::from_unique("gone");
    follow::apply(&mut index, &[IndexChange::Begun(gone.clone(), AT)]).unwrap();
    assert_eq!(follow::reconcile(&mut index, &home.logs()).unwrap(), 0);
    assert_eq!(home.marked(), Vec::<String>::new());
    assert_eq!(home.indexed(), vec![one.id]);
}

#[test]
fn journal_newer_than_its_record_is_the_source() {
    let (home, one) = killed(9);
    let journal = home.logs().join(format!("{}.jsonl", one.id));
    drop(write_journal(&journal, &one, one.events.len()));
    until_free(&journal);
    let early = consultations(9, 1, Length::Short).next().unwrap();
    let mut record = early.record.clone();
    record["consultation_id"] = one.id.clone().into();
    record["question"] = "of the record".into();
    let path = home.logs().join(format!("{}.json", one.id));
    fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
    let question = || {
        home.rebuild();
        ids(
            &home.open().connection,
            "SELECT question FROM consultations",
        )
        .remove(0)
    };
    let set_age = |path: &Path, seconds| {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(then).unwrap();
    };
    let age = |seconds| {
        set_age(&journal, seconds);
        set_age(&path, 1_000);
    };
    age(900);
    assert_eq!(question(), "of the record");
    age(1_100);
    assert_eq!(question(), one.record["question"].as_str().unwrap());
    let text = fs::read_to_string(&journal).unwrap();
    let other = text.replace("\"schema_version\":\"1.0\"", "\"schema_version\":\"77\"");
    fs::write(&journal, other).unwrap();
    age(1_100);
    assert_eq!(
        question(),
        "of the record",
        "a journal that cannot be read tells nothing"
    );
}
