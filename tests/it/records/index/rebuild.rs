//! A rebuilt index equals the live one, for any files and with concurrent writers.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use conclave::domain::ids::ConsultationId;
use conclave::domain::record::outcome::{AnswerOutcome, Grade, SCHEMA_VERSION};
use conclave::domain::time::Timestamp;
use conclave::records::index::follow::IndexChange;
use conclave::records::index::rebuild::{
    RebuildProgress, build_in_memory, rebuild, rebuild_if_unusable,
};
use conclave::records::index::{Index, IndexError, follow, store};
use conclave::records::{outcomes, stored};

use super::{Home, contents};
use crate::support::generated::{GeneratedConsultation, Length, consultations};

pub(super) const AT: Timestamp = Timestamp(1_700_000_000_000);

pub(super) fn id(consultation: &GeneratedConsultation) -> ConsultationId {
    ConsultationId::from_unique(consultation.id.strip_prefix("consult-").unwrap())
}

fn grade(id: &ConsultationId, outcome: AnswerOutcome) -> Grade {
    Grade {
        schema_version: SCHEMA_VERSION.to_owned(),
        consultation_id: id.clone(),
        outcome,
        note: Some("Held.".to_owned()),
        at: AT,
    }
}

/// Returns a home with an empty index.
pub(super) fn empty() -> Home {
    let home = Home::new();
    home.rebuild();
    home
}

#[test]
fn rebuild_in_any_order_gives_the_same_rows() {
    for (seed, count) in [(1, 40), (2, 1)] {
        let live = empty();
        let mut all: Vec<GeneratedConsultation> =
            consultations(seed, count, Length::Short).collect();
        let mut random = fastrand::Rng::with_seed(seed);
        random.shuffle(&mut all);
        for consultation in &all {
            let id = id(consultation);
            consultation.write(&live.logs());
            let mut index = live.open();
            follow::apply(
                &mut index,
                &[IndexChange::Begun(id.clone(), consultation.at)],
            )
            .unwrap();
            follow::apply(
                &mut index,
                &[IndexChange::ended(&id, &consultation.stored(), AT)],
            )
            .unwrap();
            if random.u8(..) < 64 {
                let grade = grade(&id, *random.choice(AnswerOutcome::ALL.iter()).unwrap());
                outcomes::write(&live.logs(), &id, &grade).unwrap();
                store::set_outcome(&index.connection, id.as_str(), Some(&grade)).unwrap();
            }
        }
        let written = live.contents();
        assert_eq!(live.rebuild().indexed, count);
        assert_eq!(live.contents(), written, "seed {seed}");
    }
}

#[test]
fn unreadable_files_are_reported_and_the_rest_is_indexed() {
    let home = Home::with(4, 3);
    let write = |name: &str, text: &[u8]| fs::write(home.logs().join(name), text).unwrap();
    write("consult-torn.json", b"{\"consultation_id\": \"consult-to");
    write("consult-other.json", b"{\"hello\": \"world\"}");
    write("consult-list.json", b"[1, 2]");
    write("consult-bytes.json", &[0xff, 0xfe, 0x00]);
    write("consult-later.json", br#"{"consultation_id": "consult-later", "tool_version": "9.0.0", "schema_version": "99.0"}"#);
    write("consult-silent.jsonl", b"");
    write("consult-damaged.jsonl", b"no event\nno event\n");
    write("consult-some.checkpoint.json", b"{}");
    write("consult-index-2025-12.md", b"nothing to read");
    write("notes.json", b"{}");
    fs::create_dir(home.logs().join("consult-folder.json")).unwrap();
    let rebuilt = home.rebuild();
    assert_eq!(rebuilt.indexed, 3);
    let names: Vec<&str> = rebuilt
        .skipped
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "consult-bytes.json",
            "consult-damaged.jsonl",
            "consult-folder.json",
            "consult-later.json",
            "consult-list.json",
            "consult-other.json",
            "consult-silent.jsonl",
            "consult-torn.json",
        ]
    );
    let [.., (_, later), _, _, (_, silent), (_, torn)] = rebuilt.skipped.as_slice() else {
        panic!("{:?}", rebuilt.skipped)
    };
    assert_eq!(later, "it has version `99.0`; this program reads `1.0`");
    assert_eq!(silent, "it has no complete event");
    assert_eq!(torn, "it is not JSON");
}

#[test]
fn copy_of_a_record_is_skipped_and_named() {
    let one = consultations(5, 1, Length::Short).next().unwrap();
    let home = Home::new();
    one.write(&home.logs());
    fs::write(home.logs().join("consult-copy.json"), one.bytes()).unwrap();
    let rebuilt = home.rebuild();
    assert_eq!(
        rebuilt.skipped,
        [(
            "consult-copy.json".to_owned(),
            format!("it is a copy of {}", one.id)
        )]
    );
    assert_eq!(home.indexed(), [one.id]);
}

#[test]
fn writes_of_other_processes_during_a_rebuild_are_in_the_index() {
    let home = Home::with(10, 20);
    let new = consultations(11, 1, Length::Short).next().unwrap();
    let [changed, gone, graded] =
        [5, 10, 15].map(|nth| consultations(10, 20, Length::Short).nth(nth).unwrap());
    home.rebuild();
    let grade = grade(&id(&graded), AnswerOutcome::Right);
    let write = || {
        new.write(&home.logs());
        let mut record = changed.record.clone();
        record["question"] = "changed".into();
        let record = serde_json::to_vec(&record).unwrap();
        fs::write(home.logs().join(format!("{}.json", changed.id)), &record).unwrap();
        fs::remove_file(home.logs().join(format!("{}.json", gone.id))).unwrap();
        outcomes::write(&home.logs(), &id(&graded), &grade).unwrap();
        let mut index = home.open();
        follow::apply(
            &mut index,
            &[IndexChange::ended(&id(&new), &new.stored(), AT)],
        )
        .unwrap();
        let record = stored::read(&record).unwrap();
        follow::apply(
            &mut index,
            &[IndexChange::ended(&id(&changed), &record, AT)],
        )
        .unwrap();
        store::remove(&index.connection, &gone.id).unwrap();
        store::set_outcome(&index.connection, &graded.id, Some(&grade)).unwrap();
    };
    thread::scope(|scope| {
        rebuild(&home.logs(), &home.database(), &mut |progress| {
            if progress.done == progress.of {
                scope.spawn(write);
            }
        })
        .unwrap();
    });
    let written = home.contents();
    assert!(home.indexed().contains(&new.id));
    assert!(!home.indexed().contains(&gone.id));
    let sql =
        "SELECT id FROM consultations WHERE question = 'changed' OR outcome = 'right' ORDER BY id";
    assert_eq!(
        super::ids(&home.open().connection, sql),
        [changed.id.clone(), graded.id.clone()]
    );
    home.rebuild();
    assert_eq!(home.contents(), written);
}

#[test]
fn interrupted_rebuild_changes_nothing() {
    let home = Home::with(17, 130);
    home.rebuild();
    let whole = home.contents();
    home.with_more(18, 5);
    let interrupted = catch_unwind(AssertUnwindSafe(|| {
        rebuild(&home.logs(), &home.database(), &mut |progress| {
            assert!(progress.done < 128, "interrupted");
        })
    }));
    assert!(interrupted.is_err());
    assert_eq!(home.contents(), whole);
    assert_eq!(home.rebuild().indexed, 135);
}

#[test]
fn progress_rises_from_nothing_to_all_and_one_file_is_left() {
    let home = Home::with(12, 130);
    let mut steps = vec![];
    let mut progress = |progress| steps.push(progress);
    rebuild(&home.logs(), &home.database(), &mut progress).unwrap();
    assert_eq!(steps[0], RebuildProgress { done: 0, of: 130 });
    let last = steps[steps.len() - 1];
    assert_eq!(last, RebuildProgress { done: 130, of: 130 });
    assert!(steps.is_sorted_by_key(|progress| progress.done));
    assert_eq!(home.beside(), ["consult-analytics.db"]);
}

#[test]
fn failed_rebuild_leaves_the_old_index_unchanged() {
    let home = Home::with(14, 3);
    home.rebuild();
    let whole = home.contents();
    let logs = home.path().join("a-file");
    fs::write(&logs, "").unwrap();
    let failed = rebuild(&logs, &home.database(), &mut |_| {});
    assert!(matches!(failed, Err(IndexError::Logs { .. })));
    let nowhere = home.path().join("nowhere/consult-analytics.db");
    let failed = rebuild(&home.logs(), &nowhere, &mut |_| {});
    assert!(matches!(failed, Err(IndexError::Failed { .. })));
    assert_eq!(home.contents(), whole);
    // Without logs, the index is empty.
    fs::remove_dir_all(home.logs()).unwrap();
    assert_eq!(home.rebuild().indexed, 0);
    assert_eq!(home.indexed(), Vec::<String>::new());
}

#[test]
fn index_built_by_another_process_is_not_built_again() {
    let home = Home::with(15, 3);
    let make = || rebuild_if_unusable(&home.logs(), &home.database(), &mut |_| {}).unwrap();
    assert_eq!(make().map(|rebuilt| rebuilt.indexed), Some(3));
    assert_eq!(make(), None);
}

#[test]
fn index_in_memory_has_the_same_rows_and_leaves_no_files() {
    let home = Home::with(16, 20);
    let (index, rebuilt): (Index, _) = build_in_memory(&home.logs()).unwrap();
    assert_eq!(rebuilt.indexed, 20);
    assert_eq!(home.beside().len(), 0);
    let in_memory = contents(&index.connection);
    home.rebuild();
    assert_eq!(home.contents(), in_memory);
}
