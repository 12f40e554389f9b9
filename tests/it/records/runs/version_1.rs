//! A run that version 1 of the program has left.

use std::fs;
use std::path::Path;

use conclave::benchmark::event::BenchmarkEventKind;
use conclave::benchmark::result::CaseOutcome;
use conclave::benchmark::run::RunId;
use conclave::benchmark::state::{BenchmarkStateView, BenchmarkStatus};
use conclave::records::runs::RunStore;
use conclave::stopping::batch::reason::StopCondition;
use tempfile::TempDir;

use super::store::{NOW, SCHEMA, step};
use crate::support::schema;

/// Copies a run of version 1 into a home, as that version left it.
fn version_1() -> (TempDir, RunId) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/benchmark/version_1");
    let folder = tempfile::tempdir().unwrap();
    let run = RunId::from_unique("01kb5x0000000000000000000a");
    let files = RunStore::in_folder(folder.path().to_owned()).files(&run);
    fs::create_dir_all(&files.folder).unwrap();
    fs::copy(data.join("log.jsonl"), &files.log).unwrap();
    fs::copy(data.join("state.json"), &files.state).unwrap();
    (folder, run)
}

#[test]
fn runs_of_version_1_stay_readable() {
    let (folder, run) = version_1();
    let store = RunStore::in_folder(folder.path().to_owned());
    let stored = store.load(&run).unwrap();
    let state = fs::read(store.files(&run).state).unwrap();
    let view: BenchmarkStateView = serde_json::from_slice(&state).unwrap();
    assert_eq!(stored.view(), view);
    schema::check(SCHEMA, &serde_json::from_slice(&state).unwrap());
    assert_eq!(stored.status, BenchmarkStatus::Stopped);
    let reason = stored.state.stop_reason().unwrap();
    assert_eq!(reason.condition, StopCondition::ConsecutiveFails);
    assert_eq!(stored.state.halts.len(), 2);
    assert_eq!(stored.state.results.len(), 8);
}

#[test]
fn runs_of_version_1_can_be_resumed() {
    let (folder, run) = version_1();
    let store = RunStore::in_folder(folder.path().to_owned());
    let mut run = store.open(&run, NOW).unwrap();
    let conditions = run.state().batch.conditions;
    run.record(NOW, BenchmarkEventKind::Resumed { conditions })
        .unwrap();
    while !run.state().has_ended() {
        step(&mut run, CaseOutcome::Approved);
    }
    assert_eq!(run.state().status(), BenchmarkStatus::Complete);
}
