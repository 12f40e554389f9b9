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
    assert_eq!(
        output.stdout,
        "turn 1: continue · 1 of 3 tasks · no progress 0 of 3\n"
    );
}

#[test]
fn turn_is_one_line_with_what_speaks_for_and_against_a_stop() {
    let failing = "The build fails with `error[E0432]: unresolved import`.\n";
    let admits = "EXIT_SIGNAL: true\n\nTwo screens are still missing.\n";
    for (response, flag, line) in [
        (WORKING, "--tests=passed", "tests passed"),
        (
            failing,
            "--tests=failed",
            "tests failed · same error 1 of 3",
        ),
        (
            "Which database should I use?\n",
            "--max-turns=9",
            "questions 1 of 2",
        ),
        (
            admits,
            "--min-completion=60",
            "held back by \"Two screens are still missing.\"",
        ),
    ] {
        let project = Project::new();
        project.plan(2, 1);
        let printed = project.check(response, &[flag]).ends_with(0).stdout;
        let line = format!("turn 1: continue · 2 of 3 tasks · {line} · no progress 0 of 3\n");
        assert_eq!(printed, line);
    }
    let project = Project::new();
    project.plan(3, 0);
    let done = project.check(WORKING, &[]).ends_with(10).stdout;
    let expected = "turn 1: done: all 3 tasks of the checklist are completed · 3 of 3 tasks";
    assert!(done.starts_with(expected), "{done}");
}

#[test]
fn verbose_check_prints_every_rule() {
    let project = Project::new();
    project.plan(1, 2);
    let report = project.check(WORKING, &["-v"]).ends_with(0).stdout;
    assert!(
        report.starts_with("EXIT CHECK (turn 1)\n├─ ")
            && report.ends_with("\n└─ DECISION: CONTINUE\n"),
        "{report}"
    );
}

#[test]
fn command_line_of_the_original_works() {
    let project = Project::new();
    project.write(".ralph/last-response.md", WORKING);
    project.write(".ralph/@fix_plan.md", "- [x] one\n- [x] two\n");
    let named = [
        "exit-check",
        "check",
        ".ralph/last-response.md",
        ".ralph/@fix_plan.md",
    ];
    let named = project.run(&named).ends_with(10).stdout;
    let usual = project.run(&["exit-check", "check"]).ends_with(10).stdout;
    for printed in [named, usual] {
        let done = "done: all 2 tasks of the checklist are completed";
        assert!(printed.contains(done), "{printed}");
    }
}

#[test]
fn finished_work_ends_with_10() {
    let project = Project::new();
    project.plan(3, 0);
    let output = project.check(WORKING, &[]).ends_with(10);
    assert!(
        output.stdout.starts_with("turn 1: done: "),
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
