//! Concurrent processes write to the index, rebuild it and find it missing: no row is lost, and no
//! process fails.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use conclave::domain::ids::ConsultationId;
use conclave::domain::time::Timestamp;
use conclave::records::index::follow::IndexChange;
use conclave::records::index::rebuild::{rebuild, rebuild_if_unusable};
use conclave::records::index::{Index, WaitLimit, follow};
use rusqlite::ErrorCode;

use super::Home;
use super::open::foreign;
use crate::support::generated::{GeneratedConsultation, Length, consultations};

const WRITERS: usize = 4;

fn id(consultation: &GeneratedConsultation) -> ConsultationId {
    ConsultationId::from_unique(consultation.id.strip_prefix("consult-").unwrap())
}

/// Writes a record and its rows as its process does, opening the index for each step.
fn live(home: &Home, consultation: &GeneratedConsultation) {
    let begun = IndexChange::Begun(id(consultation), consultation.at);
    follow::apply(&mut home.open(), &[begun]).unwrap();
    consultation.write(&home.logs());
    let ended = IndexChange::ended(&id(consultation), &consultation.stored(), Timestamp(0));
    follow::apply(&mut home.open(), &[ended]).unwrap();
}

#[test]
fn concurrent_writers_lose_no_rows_during_rebuilds() {
    let home = Home::new();
    home.rebuild();
    let all: Vec<GeneratedConsultation> = consultations(1, 12, Length::Short).collect();
    let (is_over, times) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let write = |part: &[GeneratedConsultation]| {
            for consultation in part {
                live(&home, consultation);
            }
        };
        let writers: Vec<_> = all
            .chunks(all.len() / WRITERS)
            .map(|part| scope.spawn(move || write(part)))
            .collect();
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                home.rebuild();
                times.fetch_add(1, Ordering::SeqCst);
            }
        });
        let written: Vec<_> = writers
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        is_over.store(true, Ordering::SeqCst);
        written.into_iter().for_each(Result::unwrap);
    });
    assert!(times.load(Ordering::SeqCst) > 0);
    let mut expected: Vec<&str> = all
        .iter()
        .map(|consultation| consultation.id.as_str())
        .collect();
    expected.sort_unstable();
    assert_eq!(home.indexed(), expected);
    assert_eq!(home.marked(), Vec::<String>::new());
    let written = home.contents();
    home.rebuild();
    assert_eq!(home.contents(), written);
}

#[test]
fn one_process_builds_a_missing_index_and_the_others_wait() {
    let home = Home::with(2, 10);
    let made: Vec<bool> = thread::scope(|scope| {
        let make = || {
            rebuild_if_unusable(&home.logs(), &home.database(), &mut |_| {})
                .unwrap()
                .is_some()
        };
        let threads: Vec<_> = (0..WRITERS).map(|_| scope.spawn(make)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(made.iter().filter(|made| **made).count(), 1, "{made:?}");
    assert_eq!(home.indexed().len(), 10);
}

#[test]
fn short_wait_for_a_rebuild_ends_soon() {
    let home = Home::with(5, 2);
    home.rebuild();
    let mut refused = false;
    rebuild(&home.logs(), &home.database(), &mut |_| {
        let mut index = Index::open_with(&home.database(), WaitLimit::Moment).unwrap();
        refused |= follow::apply(
            &mut index,
            &[IndexChange::Begun(
                ConsultationId::from_unique("a"),
                Timestamp(0),
            )],
        )
        .is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy));
    })
    .unwrap();
    assert!(refused);
}

#[test]
fn one_of_many_processes_sets_a_foreign_database_aside() {
    for _ in 0..3 {
        let home = Home::new();
        for consultation in consultations(1, 3, Length::Short) {
            consultation.write(&home.logs());
        }
        foreign(&home.database());
        thread::scope(|scope| {
            for _ in 0..WRITERS * 2 {
                scope.spawn(|| rebuild_if_unusable(&home.logs(), &home.database(), &mut |_| {}));
            }
        });
        let names = std::fs::read_dir(home.database().parent().unwrap()).unwrap();
        let aside: Vec<_> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.contains(".before-conclave"))
            .filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm"))
            .collect();
        assert_eq!(aside.len(), 1, "{aside:?}");
        let sql = "SELECT count(*) FROM consultations";
        let count = home.open().connection.query_row(sql, [], |row| row.get(0));
        assert_eq!(count, Ok(3));
    }
}
