//! Every exit code, and what is printed with it.

use super::{DONE, Project, WORKING};
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../schemas/exit_check.schema.json");

#[test]
fn unfinished_work_continues_with_0() {
    let project = Project::new();
    project.plan(1, 2);
    let output = project.check(WORKING, &[]).ends_with(0);
    assert_eq!(output.stderr, "");
    assert!(
        output.stdout.starts_with("EXIT CHECK (turn 1)\n├─ "),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.ends_with("\n└─ DECISION: CONTINUE\n"),
        "{}",
        output.stdout
    );
}

#[test]
fn finished_work_ends_with_10() {
    let project = Project::new();
    project.plan(3, 0);
    let output = project.check(WORKING, &["-q"]).ends_with(10);
    assert!(
        output.stdout.starts_with("DECISION: STOP done: "),
        "{}",
        output.stdout
    );
    assert_eq!(output.stdout.lines().count(), 1);
}

#[test]
fn explicit_signal_ends_with_10_without_a_plan() {
    assert_eq!(Project::new().decided(DONE, &[]), "done by explicit_done");
}

#[test]
fn completion_and_signal_end_with_10_before_all_tasks_are_done() {
    let project = Project::new();
    project.plan(4, 1);
    assert_eq!(project.decided(DONE, &[]), "done by completion");
}

#[test]
fn blocked_agent_ends_with_11() {
    let blocked =
        "---RALPH_STATUS---\nSTATUS: BLOCKED\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---\n";
    let project = Project::new();
    project.plan(1, 2);
    project.check(blocked, &[]).ends_with(11);
}

#[test]
fn low_confidence_ends_with_11_in_the_second_turn() {
    let project = Project::new();
    let unsure = "Something may be wrong.\n\nConfidence: 40%\n";
    assert_eq!(project.decided(unsure, &[]), "continue");
    assert_eq!(
        project.decided(unsure, &[]),
        "needs_human by low_confidence"
    );
}

#[test]
fn agent_that_is_not_signed_in_ends_with_12() {
    let refused = r#"{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login","session_id":"s","num_turns":1}"#;
    let decided = Project::new().decided(refused, &[]);
    assert_eq!(decided, "halted by obstacle");
}

#[test]
fn turns_without_progress_end_with_13() {
    let project = Project::new();
    project.plan(1, 2);
    for _ in 0..3 {
        assert_eq!(project.decided(WORKING, &[]), "continue");
    }
    assert_eq!(project.decided(WORKING, &[]), "stalled by stagnation");
}

#[test]
fn used_up_turns_end_with_14() {
    let project = Project::new();
    for turn in 0..3 {
        project.plan(turn, 9);
        assert_eq!(project.decided(WORKING, &["--max-turns", "4"]), "continue");
    }
    project.plan(4, 5);
    assert_eq!(
        project.decided(WORKING, &["--max-turns", "4"]),
        "exhausted by turns"
    );
}

#[test]
fn finished_work_at_the_last_turn_is_done_not_exhausted() {
    let project = Project::new();
    project.plan(3, 0);
    assert_eq!(
        project.decided(WORKING, &["--max-turns", "1"]),
        "done by all_tasks_done"
    );
}

#[test]
fn open_circuit_is_beaten_by_finished_work_at_the_same_check() {
    let project = Project::new();
    project.plan(1, 2);
    for _ in 0..4 {
        project.check(WORKING, &["--run", "1"]);
    }
    assert_eq!(
        project.decided(WORKING, &["--run", "1"]),
        "halted by circuit_open"
    );
    project.plan(3, 0);
    assert_eq!(
        project.decided(WORKING, &["--run", "1"]),
        "done by all_tasks_done"
    );
}

#[test]
fn explicit_not_done_beats_a_finished_plan() {
    let project = Project::new();
    project.plan(3, 0);
    let not_done = DONE.replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: false");
    assert_eq!(project.decided(&not_done, &[]), "continue");
}

#[test]
fn new_run_begins_with_its_first_turn() {
    let project = Project::new();
    project.plan(1, 2);
    for _ in 0..3 {
        project.check(WORKING, &["--run", "first"]).ends_with(0);
    }
    assert_eq!(project.decision(WORKING, &["--run", "second"])["turn"], 1);
    assert_eq!(
        project.decided(WORKING, &["--run", "first"]),
        "stalled by stagnation"
    );
}

#[test]
fn stop_ends_a_run_without_a_name() {
    let project = Project::new();
    project.check(DONE, &[]).ends_with(10);
    assert_eq!(project.decision(WORKING, &[])["turn"], 1);
}

#[test]
fn json_matches_the_schema() {
    let project = Project::new();
    project.git(&["init", "--quiet"]);
    project.plan(1, 2);
    let flags = [
        "--git",
        "--tests",
        "echo failed; exit 1",
        "--agent-exit",
        "-1",
    ];
    for turn in 1..=3 {
        let json = project.decision("Confidence: 85%\n\nerror: no such file `a`\n", &flags);
        schema::check(SCHEMA, &json);
        assert_eq!(json["turn"], turn);
    }
    for response in [DONE, "", "Which of the two do you want?\n"] {
        schema::check(SCHEMA, &project.decision(response, &[]));
    }
}

#[test]
fn json_is_what_the_log_has() {
    let project = Project::new();
    project.plan(1, 2);
    let json = project.decision(WORKING, &[]);
    let events = project.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["evaluation"], json["evaluation"]);
    assert_eq!(events[0]["evidence"], json["evidence"]);
    assert_eq!(events[0]["turn"], 1);
}

#[test]
fn closed_pipe_keeps_the_exit_code() {
    let project = Project::new();
    project.plan(3, 0);
    project.write("response.md", WORKING);
    let script = "\"$0\" exit-check response.md PLAN.md; echo $? >&3";
    let mut shell = project.command(&[]);
    let program = shell.get_program().to_owned();
    shell = {
        let mut command = std::process::Command::new("bash");
        command
            .arg("-c")
            .arg(format!("exec 3>code; {{ {script}; }} | true"))
            .arg(program)
            .env_clear()
            .envs(project.conclave.variables())
            .current_dir(project.path(""));
        command
    };
    assert!(shell.status().unwrap().success());
    assert_eq!(project.read("code"), "10\n");
    assert_eq!(project.events().len(), 1);
}

#[test]
fn two_checks_at_once_are_two_turns() {
    let project = Project::new();
    project.write("response.md", WORKING);
    let arguments = ["exit-check", "response.md", "--run", "1", "-q"];
    let mut running: Vec<_> = (0..4)
        .map(|_| project.command(&arguments).spawn().unwrap())
        .collect();
    for child in &mut running {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let mut turns: Vec<i64> = project
        .events()
        .iter()
        .map(|event| event["turn"].as_i64().unwrap())
        .collect();
    turns.sort_unstable();
    assert_eq!(turns, [1, 2, 3, 4]);
}

#[test]
fn state_that_cannot_be_written_ends_with_1() {
    let project = Project::new();
    project.write("file", "");
    let output = project.check(DONE, &["--state", "file/state"]).ends_with(1);
    assert_eq!(output.stdout, "");
    output.assert_stderr_contains("error: ");
}
