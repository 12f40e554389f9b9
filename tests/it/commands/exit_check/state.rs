//! The state of a loop through the binary: errors, several processes, kills, reports.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use conclave::agent_loop::store::Store;
use conclave::stopping::exit_check::state::LoopState;
use rustix::process::Signal;
use serde_json::Value;

use super::WORKING;
use crate::support::binary::Conclave;
use crate::support::schema;

const STATE_SCHEMA: &str = include_str!("../../../../schemas/exit_state.schema.json");
const HISTORY_SCHEMA: &str = include_str!("../../../../schemas/exit_history.schema.json");

fn failed(conclave: &Conclave, arguments: &[&str]) -> String {
    conclave.run(arguments).ends_with(1).stderr
}

#[test]
fn what_cannot_be_read_exits_with_1_and_a_hint() {
    let conclave = Conclave::new();
    let folder = conclave.folder().join(".conclave");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("exit-state.json"), "my notes").unwrap();
    for arguments in [
        ["circuit", "status"].as_slice(),
        &["circuit", "reset"],
        &["circuit", "record", "--progress"],
        &["exit-check", "state"],
        &["exit-check", "reset"],
    ] {
        let stderr = failed(&conclave, arguments);
        let expected = "error: `.conclave/exit-state.json` is no state of a loop\n";
        assert!(stderr.starts_with(expected), "{stderr}");
        assert!(stderr.contains("hint: move it away with `mv "), "{stderr}");
    }
    let content = fs::read_to_string(folder.join("exit-state.json")).unwrap();
    assert_eq!(content, "my notes");
}

#[test]
fn a_file_in_place_of_the_folder_exits_with_1() {
    let conclave = Conclave::new();
    let folder = conclave.folder().join(".conclave");
    fs::write(&folder, "").unwrap();
    failed(&conclave, &["circuit", "record", "--progress"]);
    fs::write(conclave.folder().join("response.md"), WORKING).unwrap();
    failed(&conclave, &["exit-check", "response.md"]);
    assert_eq!(fs::read(folder).unwrap(), b"");
}

#[test]
fn a_full_disk_exits_with_1_and_leaves_the_log_whole() {
    let conclave = Conclave::new();
    let folder = conclave.folder().join("state");
    let arguments = format!("circuit record --progress --state {}", folder.display());
    for _ in 0..3 {
        assert_eq!(conclave.run_limited("-f 1000", &arguments).code, Some(0));
    }
    let log = fs::read(folder.join("exit-log.jsonl")).unwrap();
    assert!(log.len() > 1_024, "{}", log.len());
    let blocks = log.len() / 512 + 1;
    let output = conclave.run_limited(&format!("-f {blocks}"), &arguments);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.starts_with("error: "), "{}", output.stderr);
    assert_eq!(fs::read(folder.join("exit-log.jsonl")).unwrap(), log);
    assert_eq!(conclave.run_limited("-f 1000", &arguments).code, Some(0));
}

#[test]
fn a_read_only_folder_is_read_but_not_written() {
    let conclave = Conclave::new();
    conclave.run(&["circuit", "record", "--no-progress"]);
    let folder = conclave.folder().join(".conclave");
    for entry in fs::read_dir(&folder).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o400)).unwrap();
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(conclave.run(&["circuit", "status"]).code, Some(0));
    assert_eq!(conclave.run(&["exit-check", "history"]).code, Some(0));
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !is_root {
        let stderr = failed(&conclave, &["circuit", "record", "--progress"]);
        assert!(
            stderr.starts_with("error: no permission to write"),
            "{stderr}"
        );
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn parallel_checks_are_each_recorded_once() {
    const PROCESSES: u64 = 8;
    let conclave = Conclave::new();
    fs::write(conclave.folder().join("response.md"), WORKING).unwrap();
    let arguments = ["exit-check", "response.md", "--run", "a"];
    let processes: Vec<_> = (0..PROCESSES).map(|_| conclave.start(&arguments)).collect();
    for process in processes {
        process.wait().ends_with(0);
    }
    let store = Store::find(conclave.folder()).unwrap();
    let events = store.history().unwrap().into_iter();
    let turns: Vec<u64> = events
        .map(|event| event.unwrap().turn().unwrap().turn)
        .collect();
    assert!(turns.iter().copied().eq(1..=PROCESSES), "{turns:?}");
    let live = store.load().unwrap();
    fs::remove_file(store.state()).unwrap();
    assert_eq!(store.load().unwrap(), live);
}

#[cfg(target_os = "linux")]
#[test]
fn checks_that_are_killed_leave_a_state_that_is_read() {
    let conclave = Conclave::new();
    let store = Store::find(conclave.folder()).unwrap();
    let log = fs::canonicalize(conclave.folder())
        .unwrap()
        .join(".conclave/exit-log.jsonl");
    for round in 0..10 {
        let process = conclave.start(&["circuit", "record", "--no-progress", "--run", "a"]);
        // Killed while it holds the log, or once it has ended.
        while !process.has_open(&log) && !process.has_ended() {
            std::hint::spin_loop();
        }
        process.signal(Signal::KILL);
        process.wait();
        let state = store
            .load()
            .unwrap_or_else(|error| panic!("round {round}: {error}"));
        let events: Result<Vec<_>, _> = store.history().unwrap().into_iter().collect();
        let mut replayed = LoopState::default();
        for event in &events.unwrap() {
            replayed.apply(event);
        }
        assert_eq!(state, replayed, "round {round}");
    }
    let output = conclave.run(&["circuit", "record", "--progress", "--run", "a"]);
    assert_eq!(output.code, Some(0), "{output:?}");
}

#[test]
fn the_reports_match_their_schemas() {
    let conclave = Conclave::new();
    let json = |arguments: &[&str]| conclave.run(&[arguments, &["--json"]].concat()).json();
    let report = |command: &str| {
        let report = json(&["exit-check", command]);
        let is_history = command == "history";
        schema::check(
            if is_history {
                HISTORY_SCHEMA
            } else {
                STATE_SCHEMA
            },
            &report,
        );
        report
    };
    report("state");
    report("history");
    fs::write(conclave.folder().join("response.md"), WORKING).unwrap();
    json(&["exit-check", "response.md"]);
    json(&["circuit", "record", "--no-progress", "--error", "x"]);
    json(&["circuit", "reset"]);
    let state = report("state");
    assert_eq!(state["run"]["turn"], 1);
    assert_eq!(state["decision"], "CONTINUE");
    assert_eq!(report("reset")["total_decisions"], 0);
    let history = report("history");
    let events = history["events"].as_array().unwrap().iter();
    let events: Vec<&Value> = events.map(|event| &event["event"]).collect();
    assert_eq!(events, ["reset", "circuit_reset", "circuit_record", "turn"]);
    let limited = json(&["exit-check", "history", "--limit", "2"]);
    assert_eq!(limited["events"].as_array().unwrap().len(), 2);
}

#[test]
fn the_history_of_a_run_leaves_out_the_others() {
    let conclave = Conclave::new();
    for name in ["a", "b", "a"] {
        conclave.run(&["circuit", "record", "--progress", "--run", name]);
    }
    let output = conclave.run(&["exit-check", "history", "--run", "a"]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", output.stdout);
    assert!(lines[1].ends_with("circuit: progress"), "{}", output.stdout);
}
