//! `--tests`: a result from outside, or a command.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use rustix::fs::{CWD, FileType, mknodat};
use rustix::process::Signal;

use super::{DONE, Project, WORKING};
use crate::support::binary::RunningProcess;

#[test]
fn failed_tests_object_to_success() {
    let project = Project::new();
    project.plan(3, 0);
    for tests in ["failed", "exit 1", "false", "kill -SEGV $$"] {
        assert_eq!(
            project.decided(DONE, &["--tests", tests, "--run", tests]),
            "continue",
            "{tests}"
        );
    }
    for tests in ["passed", "true", "exit 0"] {
        let decided = project.decided(DONE, &["--tests", tests]);
        assert_eq!(decided, "done by all_tasks_done", "{tests}");
    }
}

#[test]
fn result_and_last_lines_are_recorded() {
    let project = Project::new();
    let json = project.decision(
        WORKING,
        &["--tests", "echo 1 passed; echo 2 failed >&2; exit 3"],
    );
    let run = &json["evidence"]["tests"]["run"];
    assert_eq!(run["exit_status"], 3);
    assert_eq!(
        run["last_lines"],
        serde_json::json!(["1 passed", "2 failed"])
    );
    assert_eq!(project.events()[0]["evidence"]["tests"]["run"], *run);
}

#[test]
fn output_of_the_command_goes_nowhere_else() {
    let project = Project::new();
    let output = project
        .check(WORKING, &["-q", "--tests", "echo out; echo err >&2"])
        .ends_with(0);
    assert_eq!(output.stdout, "DECISION: CONTINUE\n");
    assert_eq!(output.stderr, "");
}

#[test]
fn command_that_does_not_exist_has_failed_with_a_warning() {
    let project = Project::new();
    let output = project
        .check(DONE, &["-q", "--tests", "no-such-program"])
        .ends_with(0);
    output.assert_stderr_contains("was not found or cannot be run; the tests count as failed");
}

#[test]
fn command_that_is_named_passed_has_a_folder() {
    let project = Project::new();
    project.write("passed", "#!/bin/sh\nexit 1\n");
    let json = project.decision(WORKING, &["--tests", "sh ./passed"]);
    assert_eq!(json["evidence"]["tests"]["passed"], false);
}

#[test]
fn slow_command_ends_at_its_time_limit() {
    let project = Project::new();
    let flags = ["-q", "--tests", "sleep 100", "--tests-timeout", "1"];
    let output = project.check(DONE, &flags).ends_with(0);
    output.assert_stderr_contains("The tests were ended at their time limit");
    assert_eq!(project.events()[0]["evidence"]["tests"]["passed"], false);
}

#[test]
fn secrets_in_the_output_and_the_command_are_masked() {
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let project = Project::new();
    project.write("test.sh", format!("echo pushing with {token}\nexit 1\n"));
    let command = format!("TOKEN={token} sh test.sh");
    let json = project.decision(WORKING, &["--tests", &command]);
    let log = project.read(".conclave/exit-log.jsonl");
    for text in [&json.to_string(), &log] {
        assert!(!text.contains(&token), "{text}");
        assert!(
            text.contains("pushing with [REDACTED_GITHUB_TOKEN]"),
            "{text}"
        );
    }
}

#[test]
fn secret_of_many_lines_in_the_output_is_masked() {
    let project = Project::new();
    let dashes = "-".repeat(5);
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n".repeat(3);
    project.write(
        "key.pem",
        format!("{dashes}BEGIN PRIVATE KEY{dashes}\n{body}{dashes}END PRIVATE KEY{dashes}\n"),
    );
    project.decision(WORKING, &["--tests", "cat key.pem"]);
    let log = project.read(".conclave/exit-log.jsonl");
    assert!(!log.contains("MIIEvQ"), "{log}");
}

#[test]
fn secrets_are_masked_before_texts_are_cut() {
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let dashes = "-".repeat(5);
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n".repeat(40);
    let project = Project::new();
    // The line and the key begin before what is recorded of them.
    project.write(
        "output",
        format!(
            "{dashes}BEGIN PRIVATE KEY{dashes}\n{body}{dashes}END PRIVATE KEY{dashes}\n{}{token}\n",
            "a word ".repeat(41)
        ),
    );
    let response = format!(
        "API Error: 401 unauthorized: {}{token}\n",
        "a word ".repeat(22)
    );
    project.decision(&response, &["--tests", "cat output"]);
    let log = project.read(".conclave/exit-log.jsonl");
    assert!(log.contains("\"kind\":\"authentication\""), "{log}");
    assert!(log.contains("a word"), "{log}");
    assert!(!log.contains("ghp_"), "{log}");
    assert!(!log.contains("MIIEvQ"), "{log}");
}

#[test]
fn secrets_in_the_errors_of_the_response_are_masked() {
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let project = Project::new();
    let response = format!("Error: the push with {token} failed\n");
    let json = project.decision(&response, &[]);
    let errors = &json["evidence"]["errors"];
    assert_eq!(
        errors[0],
        "Error: the push with [REDACTED_GITHUB_TOKEN] failed"
    );
    let log = project.read(".conclave/exit-log.jsonl");
    assert!(!log.contains("ghp_"), "{log}");
}

#[test]
fn command_runs_in_the_current_folder() {
    let project = Project::new();
    project.write("here", "");
    let json = project.decision(WORKING, &["--tests", "test -e here && test -e response.md"]);
    assert_eq!(json["evidence"]["tests"]["passed"], true);
}

#[test]
fn interrupt_ends_the_command_and_records_nothing() {
    let project = Project::new();
    project.write("response.md", DONE);
    let tests = "touch begun; sleep 100; touch survived";
    let command = project
        .command(&["exit-check", "response.md", "--tests", tests])
        .spawn();
    let process = RunningProcess::of(command.unwrap());
    while !project.path("begun").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    process.signal(Signal::INT);
    let output = process.wait().ends_with(130);
    output.assert_stderr_contains("error: the tests were interrupted");
    assert_eq!(output.stdout, "");
    assert!(project.events().is_empty());
}

#[test]
fn killed_check_leaves_no_test_command() {
    for trap in ["", "trap '' HUP INT TERM; "] {
        let project = Project::new();
        project.write("response.md", DONE);
        // The pipe ends with the last process that has it open.
        let pipe = project.path("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, 0o600.into(), 0).unwrap();
        let tests = format!("exec > pipe; {trap}echo begun; sleep 100; echo survived");
        let command = project
            .command(&["exit-check", "response.md", "--tests", &tests])
            .spawn();
        let process = RunningProcess::of(command.unwrap());
        let mut pipe = BufReader::new(File::open(pipe).unwrap());
        let mut output = String::new();
        pipe.read_line(&mut output).unwrap();
        process.signal(Signal::KILL);
        pipe.read_to_string(&mut output).unwrap();
        assert_eq!(output, "begun\n");
    }
}

#[test]
fn key_whose_header_is_cut_off_is_masked() {
    let project = Project::new();
    let line = |number: usize| format!("{number:02}{}", "q8ZrLm".repeat(10));
    let body: Vec<String> = (0..40).map(line).collect();
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        body.join("\n")
    );
    // 64 KiB end within the key.
    project.write(
        "output",
        key + &format!("{}\n", "x".repeat(7_000)).repeat(9),
    );
    let json = project.decision(WORKING, &["--tests", "cat output; exit 1"]);
    let lines = json["evidence"]["tests"]["run"]["last_lines"].to_string();
    assert!(lines.contains("[REDACTED_PRIVATE_KEY]"), "{lines}");
    assert!(!json.to_string().contains("q8ZrLmq8ZrLm"), "{lines}");
}

#[test]
fn half_of_a_token_at_the_cut_is_left_out() {
    let project = Project::new();
    let token = format!("ghp_{}", "q8Zr2L".repeat(6));
    // One line, whose last 64 KiB begin within the token.
    project.write("output", token + &" x".repeat(32_760));
    let json = project.decision(WORKING, &["--tests", "cat output; exit 1"]);
    let lines = json["evidence"]["tests"]["run"]["last_lines"].to_string();
    assert!(lines.contains("x x x"), "{lines}");
    assert!(!lines.contains("q8Zr"), "{lines}");
}
