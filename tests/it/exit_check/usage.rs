//! The command line: what is refused, and that nothing is recorded then.

use std::fs;

use super::{DONE, Project, WORKING};
use crate::support::binary::RunningProcess;

/// Runs and returns standard error. Nothing is recorded.
fn refused(project: &Project, arguments: &[&str]) -> String {
    let output = project.run(arguments).ends_with(2);
    assert_eq!(output.stdout, "");
    assert!(project.events().is_empty());
    output.stderr
}

fn project() -> Project {
    let project = Project::new();
    project.write("response.md", WORKING);
    project.plan(1, 1);
    project
}

#[test]
fn missing_response_names_a_way() {
    let error = refused(&project(), &["exit-check"]);
    assert!(
        error.starts_with("error: no response to check\nhint: "),
        "{error}"
    );
}

#[test]
fn files_that_cannot_be_read_are_named() {
    for (arguments, message) in [
        (
            vec!["nothing.md"],
            "cannot read the response `nothing.md`: ",
        ),
        (vec!["."], "cannot read the response `.`: is a directory"),
        (
            vec!["response.md", "nothing.md"],
            "cannot read the plan `nothing.md`: ",
        ),
        (
            vec!["response.md", "--checklist", "nothing.md"],
            "cannot read the plan `nothing.md`: ",
        ),
        (
            vec!["response.md", "--prompt", "nothing.md"],
            "cannot read the prompt `nothing.md`: ",
        ),
    ] {
        let error = refused(
            &project(),
            &[&["exit-check"], arguments.as_slice()].concat(),
        );
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn standard_input_is_read_once() {
    let error = refused(&project(), &["exit-check", "-", "-"]);
    assert!(error.starts_with("error: `-` is named twice"), "{error}");
}

#[test]
fn plan_and_checklist_are_the_same_flag() {
    let error = refused(
        &project(),
        &[
            "exit-check",
            "response.md",
            "PLAN.md",
            "--checklist",
            "PLAN.md",
        ],
    );
    assert!(error.contains("cannot be used with"), "{error}");
    let decision = {
        let project = project();
        let output = project.run(&[
            "exit-check",
            "response.md",
            "--checklist",
            "PLAN.md",
            "--json",
        ]);
        output.ends_with(0).json()
    };
    assert_eq!(decision["evidence"]["checklist"]["open"], 1);
}

#[test]
fn thresholds_that_make_no_sense_are_refused() {
    for (flag, value) in [
        ("--min-confidence", "0"),
        ("--min-confidence", "101"),
        ("--min-completion", "0"),
        ("--min-completion", "200"),
        ("--stagnation-turns", "0"),
        ("--max-turns", "0"),
        ("--max-turns", "1000000"),
    ] {
        let error = refused(&project(), &["exit-check", "response.md", flag, value]);
        let name = flag.trim_start_matches('-').replace('-', "_");
        assert!(
            error.starts_with(&format!("error: `{name}` is {value}: ")),
            "{error}"
        );
        assert!(error.contains(&format!("hint: change `{flag}`")), "{error}");
    }
    let error = refused(
        &project(),
        &[
            "exit-check",
            "response.md",
            "--stagnation-turns",
            "9",
            "--max-turns",
            "5",
        ],
    );
    assert!(
        error.starts_with("error: `stagnation_turns` is 9: "),
        "{error}"
    );
}

#[test]
fn values_of_flags_are_checked() {
    for arguments in [
        ["--promise", " "],
        ["--tests", ""],
        ["--run", ""],
        ["--run", "two\nlines"],
        ["--state", ""],
        ["--format", "cursor"],
        ["--agent-exit", "many"],
        ["--tests-timeout", "10"],
        ["--max-errors", "-1"],
    ] {
        refused(
            &project(),
            &[&["exit-check", "response.md"], arguments.as_slice()].concat(),
        );
    }
}

#[test]
fn command_after_a_flag_is_taken_for_a_file() {
    let error = refused(&project(), &["exit-check", "--json", "state"]);
    assert!(
        error.contains("hint: the command `state` comes before all flags"),
        "{error}"
    );
}

#[test]
fn file_that_is_named_like_a_command_has_a_folder() {
    let project = project();
    project.write("state", DONE);
    project.run(&["exit-check", "./state"]).ends_with(10);
}

#[test]
fn response_can_be_piped() {
    let project = project();
    let mut command = project.command(&["exit-check", "-", "PLAN.md", "--json"]);
    command.stdin(std::fs::File::open(project.path("response.md")).unwrap());
    let output = crate::support::binary::RunningProcess::of(command.spawn().unwrap()).wait();
    assert_eq!(
        output.ends_with(0).json()["evidence"]["checklist"]["completed"],
        1
    );
}

#[test]
fn plan_can_be_piped() {
    let project = project();
    let mut command = project.command(&["exit-check", "response.md", "-", "--json"]);
    command.stdin(std::fs::File::open(project.path("PLAN.md")).unwrap());
    let output = crate::support::binary::RunningProcess::of(command.spawn().unwrap()).wait();
    assert_eq!(
        output.ends_with(0).json()["evidence"]["checklist"]["completed"],
        1
    );
}

#[test]
fn response_can_be_the_output_of_a_command() {
    let project = project();
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", "\"$0\" exit-check <(cat response.md) -q"])
        .arg(project.command(&[]).get_program())
        .env_clear()
        .envs(project.conclave.variables())
        .current_dir(project.path(""));
    let output = bash.output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "DECISION: CONTINUE\n"
    );
}

#[test]
fn promise_replaces_the_usual_ones() {
    let project = Project::new();
    let response = "<promise>SHIPPED</promise>\n";
    assert_eq!(project.decided(response, &[]), "continue");
    assert_eq!(
        project.decided(response, &["--promise", "SHIPPED"]),
        "done by explicit_done"
    );
    let usual = "<promise>COMPLETE</promise>\n";
    assert_eq!(
        project.decided(usual, &["--promise", "SHIPPED"]),
        "continue"
    );
    assert_eq!(project.decided(usual, &[]), "done by explicit_done");
}

#[test]
fn what_the_response_repeats_of_the_prompt_is_ignored() {
    let project = Project::new();
    let prompt =
        "When everything is finished, print <promise>COMPLETE</promise> on its own line.\n";
    project.write("PROMPT.md", prompt);
    let flags = ["--prompt", "PROMPT.md"];
    let echo = format!("{prompt}\nI will begin with the parser.\n");
    assert_eq!(project.decided(&echo, &flags), "continue");
}

#[test]
fn exit_code_of_the_agent_is_evidence() {
    let json = Project::new().decision(WORKING, &["--agent-exit", "137"]);
    assert_eq!(json["evidence"]["agent_exit"], 137);
}

#[test]
fn thresholds_of_flags_decide() {
    let project = Project::new();
    project.plan(1, 1);
    assert_eq!(
        project.decided(DONE, &["--min-completion", "50"]),
        "done by completion"
    );
    let flags = ["--stagnation-turns", "1", "--run", "1"];
    assert_eq!(project.decided(WORKING, &flags), "continue");
    assert_eq!(project.decided(WORKING, &flags), "stalled by stagnation");
}

#[test]
fn folder_of_the_state_can_be_named() {
    let project = project();
    project
        .run(&["exit-check", "response.md", "--state", "elsewhere"])
        .ends_with(0);
    assert!(project.path("elsewhere/exit-log.jsonl").exists());
    assert!(!project.path(".conclave").exists());
}

#[test]
fn endless_response_ends_at_the_limit() {
    let project = project();
    fs::File::create(project.path("long.md"))
        .unwrap()
        .set_len((64 << 20) + 1)
        .unwrap();
    let error = refused(&project, &["exit-check", "long.md"]);
    let message = "cannot read the response `long.md`: it is larger than 64 MB";
    assert!(error.contains(message), "{error}");
    let mut command = project.command(&["exit-check", "-"]);
    command.stdin(fs::File::open("/dev/zero").unwrap());
    let output = RunningProcess::of(command.spawn().unwrap())
        .wait()
        .ends_with(2);
    output.assert_stderr_contains("the response on standard input: it is larger than 64 MB");
}

#[test]
fn run_with_a_token_in_its_name_is_masked_everywhere_and_found_again() {
    let token = format!("ghp_{}", "q8Zr2L".repeat(6));
    let project = project();
    let run = format!("nightly {token}");
    project
        .run(&["exit-check", "response.md", "PLAN.md", "--run", &run])
        .ends_with(0);
    let json = project.run(&["exit-check", "state", "--run", &run, "--json"]);
    let json = json.ends_with(0).stdout;
    assert!(json.contains("nightly [REDACTED_GITHUB_TOKEN]"), "{json}");
    for name in ["exit-state.json", "exit-log.jsonl"] {
        let text = project.read(&format!(".conclave/{name}"));
        assert!(text.contains("nightly [REDACTED_GITHUB_TOKEN]"), "{text}");
        assert!(!text.contains(&token), "{text}");
    }
}
