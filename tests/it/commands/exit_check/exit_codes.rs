//! Every exit code, and what is printed with it.

use super::{DONE, Project, WORKING};
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/exit_check.schema.json");

#[test]
fn unfinished_work_continues_with_0() {
    let project = Project::new();
    project.plan(1, 2);
    let output = project.check(WORKING, &[]).ends_with(0);
    assert_eq!(output.stderr, "");
    let report = output.stdout;
    assert!(
        report.starts_with("EXIT CHECK (turn 1)\n├─ ")
            && report.ends_with("\n└─ DECISION: CONTINUE\n"),
        "{report}"
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
fn other_stops_have_codes_of_their_own() {
    let refused = r#"{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login","session_id":"s","num_turns":1}"#;
    for (response, flag, turns, rule, code) in [
        ("STATUS: BLOCKED\n", "--format=text", 1, "blocked", 11),
        (refused, "--format=claude", 1, "obstacle", 12),
        (WORKING, "--stagnation-turns=1", 2, "stagnation", 13),
        (WORKING, "--max-turns=3", 3, "turns", 14),
    ] {
        let project = Project::new();
        project.plan(1, 2);
        for _ in 1..turns {
            project.check(response, &[flag]).ends_with(0);
        }
        let json = project.decision(response, &[flag]);
        assert_eq!(json["exit_code"], code);
        assert_eq!(json["evaluation"]["decision"]["stop"]["rule"], rule);
    }
}

#[test]
fn stop_ends_a_run_without_a_name() {
    let project = Project::new();
    project.check(DONE, &[]).ends_with(10);
    assert_eq!(project.decision(WORKING, &[])["turn"], 1);
    assert_eq!(project.decision(WORKING, &["--run", "other"])["turn"], 1);
    assert_eq!(project.decision(WORKING, &["--run", "other"])["turn"], 2);
}

#[test]
fn json_matches_the_schema_and_is_what_the_log_has() {
    let project = Project::new();
    project.git(&["init", "--quiet"]);
    project.plan(1, 2);
    let failing = [
        "--git",
        "--tests",
        "echo failed; exit 1",
        "--agent-exit",
        "-1",
    ];
    let error = "Confidence: 85%\n\nerror: no such file `a`\n";
    for (turn, (response, flags)) in [
        (error, failing.as_slice()),
        (error, &failing),
        (DONE, &[]),
        ("", &[]),
        ("Which of the two do you want?\n", &[]),
    ]
    .into_iter()
    .enumerate()
    {
        let json = project.decision(response, flags);
        schema::check(SCHEMA, &json);
        let events = project.events();
        assert_eq!(events.len(), turn + 1);
        for part in ["evaluation", "evidence", "turn"] {
            assert_eq!(events[turn][part], json[part]);
        }
    }
}

#[test]
fn closed_pipe_keeps_the_exit_code() {
    let project = Project::new();
    project.plan(3, 0);
    project.write("response.md", WORKING);
    let check = "\"$0\" exit-check response.md PLAN.md; echo $? >&3";
    let mut bash = project.bash(&format!("exec 3>code; {{ {check}; }} | true"));
    assert!(bash.status().unwrap().success());
    assert_eq!(project.read("code"), "10\n");
    assert_eq!(project.events().len(), 1);
}
