//! The folder of a run: what survives crashes, other processes and damage.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use conclave::benchmark::event::BenchmarkEventKind;
use conclave::benchmark::result::CaseOutcome;
use conclave::benchmark::run::{Arm, CaseRunId, RunId};
use conclave::benchmark::state::BenchmarkStatus;
use conclave::config::paths::Home;
use conclave::domain::time::Timestamp;
use conclave::files::log::LogError;
use conclave::records::lookup::LookupError;
use conclave::records::runs::{LockedRun, RunStore};
use conclave::stopping::batch::conditions::StopConditions;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::sample::{begun, finished, started, terms};
use crate::support::schema;

pub(super) const SCHEMA: &str = include_str!("../../../../schemas/benchmark_state.schema.json");

pub(super) const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// A home with a run of twelve cases.
struct RunHome {
    folder: TempDir,
    run: RunId,
}

impl RunHome {
    fn new() -> (Self, LockedRun) {
        let folder = tempfile::tempdir().unwrap();
        let begun = begun(terms(12, &[Arm::Panel]), StopConditions::default());
        let home = Self {
            folder,
            run: begun.run.clone(),
        };
        let locked = home.store().create(NOW, begun).unwrap();
        (home, locked)
    }

    fn store(&self) -> RunStore {
        RunStore::in_folder(Home::at(self.folder.path()).runs_folder())
    }

    fn log(&self) -> PathBuf {
        self.store().files(&self.run).log
    }

    fn state(&self) -> PathBuf {
        self.store().files(&self.run).state
    }

    fn state_json(&self) -> Value {
        serde_json::from_slice(&fs::read(self.state()).unwrap()).unwrap()
    }

    fn lines(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.log()).unwrap();
        log.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn events(&self) -> Vec<String> {
        let lines = self.lines().into_iter();
        lines
            .map(|line| line["event"].as_str().unwrap().to_owned())
            .collect()
    }

    fn append(&self, bytes: &[u8]) {
        let mut log = fs::File::options().append(true).open(self.log()).unwrap();
        log.write_all(bytes).unwrap();
    }
}

fn next_run(run: &LockedRun) -> CaseRunId {
    run.state().next_start().unwrap().run.clone()
}

/// Starts and finishes the next case run.
pub(super) fn step(run: &mut LockedRun, outcome: CaseOutcome) {
    let case_run = next_run(run);
    run.record(NOW, started(&case_run, 1)).unwrap();
    run.record(NOW, finished(&case_run, outcome, 1)).unwrap();
    refresh_state(run);
}

/// Writes the state, minutes after it was written last.
fn refresh_state(run: &mut LockedRun) {
    let cases = run.state().results.len() as u64;
    run.refresh_state(NOW.after(Duration::from_secs(60 * (cases + 1))));
}

/// Finishes three case runs without a right answer.
fn halt(run: &mut LockedRun) {
    for outcome in [
        CaseOutcome::Rejected,
        CaseOutcome::Failed,
        CaseOutcome::Rejected,
    ] {
        step(run, outcome);
    }
}

#[test]
fn a_new_run_has_files_of_its_owner_alone_and_is_created_once() {
    let (home, run) = RunHome::new();
    assert_eq!(home.events(), ["begun"]);
    assert_eq!(home.lines()[0]["schema_version"], 1);
    let state = home.state_json();
    schema::check(SCHEMA, &state);
    assert_eq!(state["run_status"], "running");
    assert_eq!(state["remaining"].as_array().unwrap().len(), 12);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.store().files(&home.run).folder), 0o700);
    assert_eq!(
        [&home.log(), &home.state()].map(|path| mode(path)),
        [0o600; 2]
    );
    drop(run);
    let begun = begun(terms(1, &[Arm::Panel]), StopConditions::default());
    let error = home.store().create(NOW, begun).unwrap_err().to_string();
    assert!(error.starts_with("there is already a file"), "{error}");
}

#[test]
fn a_state_is_written_at_most_once_a_second_and_never_forgotten() {
    let (home, mut run) = RunHome::new();
    let case_run = next_run(&run);
    run.record(NOW, started(&case_run, 1)).unwrap();
    let (soon, later) = [500, 1_000]
        .map(|ms| NOW.after(Duration::from_millis(ms)))
        .into();
    assert_eq!(run.refresh_state(soon), Some(later));
    assert_eq!(home.state_json()["in_flight"], json!([]));
    assert_eq!(run.refresh_state(later), None);
    assert_eq!(home.state_json()["in_flight"].as_array().unwrap().len(), 1);
}

#[test]
fn state_and_reason_are_written_before_the_halt_is_over() {
    let (home, mut run) = RunHome::new();
    halt(&mut run);
    let events = home.events();
    assert_eq!(
        events[events.len() - 3..],
        ["case_run_finished", "halted", "ended"]
    );
    let state = home.state_json();
    schema::check(SCHEMA, &state);
    assert_eq!(state["run_status"], "stopped");
    assert_eq!(state["resumable"], true);
    assert_eq!(
        state["stop_reason"],
        json!({
            "condition": "CONSECUTIVE_FAILS",
            "value": 3.0,
            "threshold": 3.0,
            "message": "3 consecutive fails reach the threshold of 3"
        })
    );
    let remaining: Vec<String> = (4..=12).map(|number| format!("case-{number}")).collect();
    assert_eq!(state["remaining"], json!(remaining));
    assert_eq!(state["statistics"]["cases_rejected"], 2);
    let lines = home.lines();
    let halted = lines.iter().find(|line| line["event"] == "halted").unwrap();
    let rules = halted["evaluation"]["rules"].as_array().unwrap();
    let mut rules = rules.iter();
    let rule = rules.find(|rule| rule["name"] == "reject_rate").unwrap();
    assert_eq!(rule["outcome"], "unknown");
    assert_eq!(halted["evaluation"]["decision"]["stop"]["class"], "halted");
}

#[test]
fn a_second_process_can_only_read() {
    let (home, mut run) = RunHome::new();
    step(&mut run, CaseOutcome::Approved);
    let stored = home.store().load(&home.run).unwrap();
    assert_eq!(stored.status, BenchmarkStatus::Running);
    assert_eq!(stored.state, *run.state());
    assert!(!stored.view().resumable);
    let error = home.store().open(&home.run, NOW).unwrap_err();
    assert!(matches!(error, LogError::Busy(_)));
    assert_eq!(
        error.to_string(),
        format!("run `{}` is being run by another process", home.run)
    );
    drop(run);
    home.store().open(&home.run, NOW).unwrap();
}

#[test]
fn a_run_whose_process_died_is_interrupted_and_resumable() {
    let (home, mut run) = RunHome::new();
    step(&mut run, CaseOutcome::Approved);
    let case_run = next_run(&run);
    run.record(NOW, started(&case_run, 1)).unwrap();
    drop(run);
    let stored = home.store().load(&home.run).unwrap();
    assert_eq!(stored.status, BenchmarkStatus::Interrupted);
    let view = stored.view();
    schema::check(SCHEMA, &serde_json::to_value(&view).unwrap());
    assert!(view.resumable);
    assert_eq!(view.in_flight, [case_run]);
}

#[test]
fn a_resumed_run_continues_its_log() {
    let (home, mut run) = RunHome::new();
    halt(&mut run);
    drop(run);
    let mut run = home.store().open(&home.run, NOW).unwrap();
    assert_eq!(run.state().results.len(), 3);
    let conditions = run.state().batch.conditions;
    run.record(NOW, BenchmarkEventKind::Resumed { conditions })
        .unwrap();
    refresh_state(&mut run);
    assert_eq!(home.state_json()["run_status"], "running");
    assert_eq!(home.state_json()["stop_reason"], Value::Null);
    while !run.state().has_ended() {
        step(&mut run, CaseOutcome::Approved);
    }
    assert_eq!(home.state_json()["run_status"], "complete");
    assert_eq!(home.state_json()["resumable"], false);
    assert_eq!(run.state().halts.len(), 1);
    assert_eq!(home.store().load(&home.run).unwrap().state, *run.state());
}

#[test]
fn a_torn_last_line_is_ignored_and_cut_with_the_next_event() {
    let (home, mut run) = RunHome::new();
    step(&mut run, CaseOutcome::Approved);
    drop(run);
    let before = home.store().load(&home.run).unwrap();
    home.append(br#"{"schema_version":1,"time":"20"#);
    assert_eq!(home.store().load(&home.run).unwrap(), before);
    let mut run = home.store().open(&home.run, NOW).unwrap();
    step(&mut run, CaseOutcome::Approved);
    assert_eq!(home.events().len(), 5);
    assert_eq!(home.store().load(&home.run).unwrap().state, *run.state());
}

#[test]
fn a_line_that_cannot_follow_is_named_and_nothing_is_changed() {
    type IsExpected = fn(&LogError) -> bool;
    let damaged: IsExpected = |error| matches!(error, LogError::DamagedLine { line: 4, .. });
    let other: IsExpected = |error| matches!(error, LogError::OtherVersion { line: 4, .. });
    let twice: IsExpected = |error| matches!(error, LogError::Contradiction { line: 4, .. });
    let empty: IsExpected = |error| matches!(error, LogError::Empty(_));
    for (line, is_expected) in [
        (
            Some("{\"schema_version\":1,\"event\":\"unheard\"}"),
            damaged,
        ),
        (Some("{\"schema_version\":2,\"event\":\"unheard\"}"), other),
        (None, twice),
        (Some(""), empty),
    ] {
        let (home, mut run) = RunHome::new();
        step(&mut run, CaseOutcome::Approved);
        drop(run);
        match line {
            Some("") => fs::write(home.log(), "").unwrap(),
            Some(line) => home.append(format!("{line}\n").as_bytes()),
            None => {
                let log = fs::read_to_string(home.log()).unwrap();
                home.append(format!("{}\n", log.lines().last().unwrap()).as_bytes());
            }
        }
        let before = fs::read(home.log()).unwrap();
        let error = home.store().load(&home.run).unwrap_err();
        assert!(is_expected(&error), "{error}");
        home.store().open(&home.run, NOW).unwrap_err();
        assert_eq!(fs::read(home.log()).unwrap(), before);
        assert_eq!(home.store().newest_first().unwrap(), [home.run]);
    }
}

#[test]
fn an_event_that_does_not_fit_is_not_logged() {
    let (home, mut run) = RunHome::new();
    let case_run = next_run(&run);
    let mut elsewhere = case_run.clone();
    elsewhere.arm = Arm::Single;
    let error = run.record(NOW, started(&elsewhere, 1)).unwrap_err();
    assert!(matches!(error, LogError::Misfit { .. }));
    assert_eq!(home.events(), ["begun"]);
    run.record(NOW, started(&case_run, 1)).unwrap();
}

#[test]
fn a_kill_between_log_and_state_loses_nothing() {
    let (home, mut run) = RunHome::new();
    step(&mut run, CaseOutcome::Approved);
    let older = fs::read(home.state()).unwrap();
    step(&mut run, CaseOutcome::Approved);
    let state = run.state().clone();
    drop(run);
    fs::write(home.state(), older).unwrap();
    let stored = home.store().load(&home.run).unwrap();
    assert_eq!(stored.state, state);
    let mut run = home.store().open(&home.run, NOW).unwrap();
    assert_eq!(*run.state(), state);
    step(&mut run, CaseOutcome::Approved);
    assert_eq!(home.state_json()["statistics"]["cases_approved"], 3);
}

#[test]
fn a_state_that_cannot_be_written_does_not_stop_a_run() {
    let (home, mut run) = RunHome::new();
    fs::remove_file(home.state()).unwrap();
    fs::create_dir(home.state()).unwrap();
    step(&mut run, CaseOutcome::Approved);
    assert!(run.stale_file().is_some());
    assert_eq!(home.events().len(), 3);
    fs::remove_dir(home.state()).unwrap();
    step(&mut run, CaseOutcome::Approved);
    assert!(run.stale_file().is_none());
}

#[test]
fn runs_are_found_by_name_and_listed_newest_first() {
    let (home, run) = RunHome::new();
    drop(run);
    let store = home.store();
    let nowhere = RunStore::in_folder(home.folder.path().join("nowhere"));
    assert_eq!(nowhere.newest_first().unwrap(), []);
    assert_eq!(nowhere.find("last").unwrap(), Err(LookupError::NotFound));
    let mut begun = begun(terms(1, &[Arm::Panel]), StopConditions::default());
    begun.run = RunId::from_unique("01kb6");
    drop(store.create(NOW, begun).unwrap());
    fs::create_dir(home.folder.path().join("runs/other")).unwrap();
    let newest = RunId::from_unique("01kb6");
    assert_eq!(
        store.newest_first().unwrap(),
        [newest.clone(), home.run.clone()]
    );
    let find = |name: &str| store.find(name).unwrap();
    assert_eq!(find("last"), Ok(newest.clone()));
    assert_eq!(find("bench-01kb5"), Ok(home.run.clone()));
    assert_eq!(
        find(&store.files(&newest).folder.display().to_string()),
        Ok(newest.clone())
    );
    assert_eq!(
        find("01kb"),
        Err(LookupError::Ambiguous(vec![newest, home.run.clone()]))
    );
    assert_eq!(find("x"), Err(LookupError::NotFound));
}
