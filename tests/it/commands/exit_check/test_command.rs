//! `--tests`: a result from outside, or a command.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use conclave::domain::random::SplitMix64;
use rustix::fs::{CWD, FileType, mknodat};
use rustix::process::Signal;
use serde_json::json;

use super::{DONE, Project, WORKING};
use crate::support::binary::RunningProcess;

/// A token of GitHub.
fn token() -> String {
    format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a")
}

/// A private key with lines of this text.
fn private_key(lines: &str) -> String {
    let dashes = "-".repeat(5);
    format!("{dashes}BEGIN PRIVATE KEY{dashes}\n{lines}{dashes}END PRIVATE KEY{dashes}\n")
}

const KEY_LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n";

#[test]
fn failed_tests_object_to_success() {
    let project = Project::new();
    for (tests, decided) in [("failed", "continue"), ("passed", "done by explicit_done")] {
        assert_eq!(project.decided(DONE, &["--tests", tests]), decided);
    }
}

#[test]
fn result_and_last_lines_are_recorded_and_printed_nowhere_else() {
    let project = Project::new();
    let tests = "test -e response.md && echo 1 passed; echo 2 failed >&2; exit 3";
    let output = project.check(WORKING, &["--tests", tests]).ends_with(0);
    assert_eq!(
        output.stdout,
        "turn 1: continue · tests failed · no progress 0 of 3\n"
    );
    assert_eq!(output.stderr, "");
    let run = &project.events()[0]["evidence"]["tests"]["run"];
    assert_eq!(run["exit_status"], 3);
    assert_eq!(run["last_lines"], json!(["1 passed", "2 failed"]));
}

#[test]
fn command_that_does_not_exist_has_failed_with_a_warning() {
    let project = Project::new();
    let output = project
        .check(DONE, &["--tests", "no-such-program"])
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
    let flags = ["--tests", "sleep 100", "--tests-timeout", "1"];
    let output = project.check(DONE, &flags).ends_with(0);
    output.assert_stderr_contains("The tests were ended at their time limit");
    assert_eq!(project.events()[0]["evidence"]["tests"]["passed"], false);
}

#[test]
fn secrets_in_the_output_and_the_command_are_masked() {
    let (token, project) = (token(), Project::new());
    let output = format!("pushing with {token}\n{}", private_key(&KEY_LINE.repeat(3)));
    project.write("output", output);
    let command = format!("TOKEN={token} cat output");
    let json = project.decision(WORKING, &["--tests", &command]);
    let log = project.read(".conclave/exit-log.jsonl");
    for text in [&json.to_string(), &log] {
        assert!(!text.contains(&token) && !text.contains("MIIEvQ"), "{text}");
        let masked = "pushing with [REDACTED_GITHUB_TOKEN]";
        assert!(text.contains(masked), "{text}");
    }
}

#[test]
fn secrets_are_masked_before_texts_are_cut() {
    let (token, project) = (token(), Project::new());
    // The line and the key begin before what is recorded of them.
    let words = "a word ".repeat(41);
    let output = format!("{}{words}{token}\n", private_key(&KEY_LINE.repeat(40)));
    project.write("output", output);
    let words = "a word ".repeat(22);
    let response = format!("API Error: 401 unauthorized: {words}{token}\n");
    project.decision(&response, &["--tests", "cat output"]);
    let log = project.read(".conclave/exit-log.jsonl");
    assert!(log.contains("\"kind\":\"authentication\""), "{log}");
    assert!(log.contains("a word"), "{log}");
    assert!(!log.contains("ghp_") && !log.contains("MIIEvQ"), "{log}");
}

#[test]
fn secrets_in_the_errors_of_the_response_are_masked() {
    let project = Project::new();
    let response = format!("Error: the push with {} failed\n", token());
    let json = project.decision(&response, &[]);
    assert_eq!(
        json["evidence"]["errors"][0],
        "Error: the push with [REDACTED_GITHUB_TOKEN] failed"
    );
    let log = project.read(".conclave/exit-log.jsonl");
    assert!(!log.contains("ghp_"), "{log}");
}

#[test]
fn the_sentence_that_holds_back_a_done_is_masked_and_short() {
    let project = Project::new();
    let rest = "with all of its parts ".repeat(20);
    let response = format!(
        "EXIT_SIGNAL: true\n\nThe push with {} still fails {rest}here.\n",
        token()
    );
    let output = project.check(&response, &[]).ends_with(0);
    let masked = "The push with [REDACTED_GITHUB_TOKEN] still fails";
    assert!(
        output.stdout.contains(&format!("held back by \"{masked}")),
        "{}",
        output.stdout
    );
    assert!(output.stdout.chars().count() < 200, "{}", output.stdout);
    let log = project.read(".conclave/exit-log.jsonl");
    assert!(log.contains(masked) && !log.contains("ghp_"), "{log}");
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
    output.assert_stderr_contains("The tests were interrupted");
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
    let signs = ('A'..='Z').chain('a'..='z').chain('0'..='9');
    let signs: Vec<char> = signs.chain(['+', '/']).collect();
    let mut random = SplitMix64::new(7);
    let mut line = || -> String {
        let sign = |_| signs[usize::try_from(random.below(64)).unwrap()];
        (0..64).map(sign).chain(['\n']).collect()
    };
    let lines: Vec<String> = (0..40).map(|_| line()).collect();
    let key = private_key(&lines.concat());
    // 64 KiB end within the key.
    let rest = format!("{}\n", "x".repeat(7_000)).repeat(9);
    project.write("output", key + &rest);
    let json = project.decision(WORKING, &["--tests", "cat output; exit 1"]);
    let shown = json["evidence"]["tests"]["run"]["last_lines"].to_string();
    assert!(shown.contains("[REDACTED_PRIVATE_KEY]"), "{shown}");
    let json = json.to_string();
    assert!(
        !lines.iter().any(|line| json.contains(line.trim())),
        "{shown}"
    );
}

#[test]
fn half_of_a_token_at_the_cut_is_left_out() {
    let project = Project::new();
    // One line, whose last 64 KiB begin within the token.
    project.write("output", token() + &" x".repeat(32_760));
    let json = project.decision(WORKING, &["--tests", "cat output; exit 1"]);
    let lines = json["evidence"]["tests"]["run"]["last_lines"].to_string();
    assert!(lines.contains("x x x"), "{lines}");
    assert!(
        !lines.contains("16C7") && !lines.contains("8B4a"),
        "{lines}"
    );
}
