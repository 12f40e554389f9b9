//! The command line: what is refused, and that nothing is recorded then.

use std::fs;

use super::{DONE, Project, WORKING};

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
fn mistakes_are_named_with_a_remedy() {
    for (arguments, message) in [
        ("", "error: no response to check\nhint: "),
        ("nothing.md", "cannot read the response `nothing.md`: "),
        (".", "cannot read the response `.`: is a directory"),
        (
            "response.md nothing.md",
            "cannot read the plan `nothing.md`: ",
        ),
        (
            "response.md --checklist nothing.md",
            "cannot read the plan `nothing.md`: ",
        ),
        (
            "response.md --prompt nothing.md",
            "cannot read the prompt `nothing.md`: ",
        ),
        (
            "response.md PLAN.md --checklist PLAN.md",
            "cannot be used with",
        ),
        ("- -", "error: `-` is named twice"),
        (
            "response.md --format codex",
            "error: `response.md`: line 1 is not output of Codex",
        ),
        ("response.md --format codex", "hint: leave out `--format`"),
        (
            "--json state",
            "hint: the command `state` comes before all flags",
        ),
    ] {
        let arguments = ["exit-check"]
            .into_iter()
            .chain(arguments.split_whitespace());
        let error = refused(&project(), &arguments.collect::<Vec<_>>());
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn thresholds_that_make_no_sense_are_refused() {
    for (flag, value) in [
        ("--min-confidence", "101"),
        ("--min-completion", "0"),
        ("--max-errors", "50"),
        ("--stagnation-turns", "100"),
        ("--max-turns", "0"),
    ] {
        let error = refused(&project(), &["exit-check", "response.md", flag, value]);
        let name = flag.trim_start_matches('-').replace('-', "_");
        let expected = format!("error: `{name}` is {value}: ");
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.contains(&format!("hint: change `{flag}`")), "{error}");
    }
}

#[test]
fn values_of_flags_are_checked() {
    for (flag, value) in [
        ("--promise", " "),
        ("--tests", ""),
        ("--run", ""),
        ("--run", "two\nlines"),
        ("--state", ""),
        ("--format", "cursor"),
        ("--agent-exit", "many"),
        ("--tests-timeout", "10"),
        ("--max-errors", "-1"),
    ] {
        refused(&project(), &["exit-check", "response.md", flag, value]);
    }
}

#[test]
fn file_that_is_named_like_a_command_has_a_folder() {
    let project = project();
    project.write("state", DONE);
    project.run(&["exit-check", "./state"]).ends_with(10);
}

#[test]
fn response_or_plan_can_be_piped() {
    let project = project();
    let response = ["exit-check", "-", "PLAN.md", "--json"];
    let plan = ["exit-check", "response.md", "-", "--json"];
    for (arguments, input) in [(response, "response.md"), (plan, "PLAN.md")] {
        let json = project.run_piped(&arguments, input).json();
        assert_eq!(json["evidence"]["checklist"]["completed"], 1, "{input}");
        assert_eq!(json["evidence"]["words"]["claims_completion"], false);
    }
}

#[test]
fn response_can_be_the_output_of_a_command() {
    let project = project();
    let mut bash = project.bash("\"$0\" exit-check <(cat response.md)");
    let output = bash.output().unwrap().stdout;
    assert_eq!(String::from_utf8_lossy(&output), "turn 1: continue\n");
}

#[test]
fn promise_replaces_the_usual_ones() {
    let project = Project::new();
    let [shipped, usual] = ["SHIPPED", "COMPLETE"].map(|text| format!("<promise>{text}</promise>"));
    let flags = ["--promise", "SHIPPED"];
    assert_eq!(project.decided(&shipped, &[]), "continue");
    assert_eq!(project.decided(&shipped, &flags), "done by explicit_done");
    assert_eq!(project.decided(&usual, &flags), "continue");
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
fn exit_code_of_the_agent_and_checklist_are_evidence() {
    let project = project();
    let flags = ["--agent-exit", "137", "--checklist", "PLAN.md", "--json"];
    let json = project.run(&[&["exit-check", "response.md"], &flags[..]].concat());
    let evidence = &json.json()["evidence"];
    assert_eq!(evidence["agent_exit"], 137);
    assert_eq!(evidence["checklist"]["open"], 1);
}

#[test]
fn thresholds_of_flags_decide() {
    let project = Project::new();
    project.plan(1, 1);
    let flags = ["--min-completion", "50"];
    assert_eq!(project.decided(DONE, &flags), "done by completion");
    for (flag, response) in [
        ("--min-confidence=90", "Confidence: 80%\n"),
        ("--max-errors=0", "Error: no `a`\n"),
    ] {
        let (name, value) = flag[2..].split_once('=').unwrap();
        let json = project.decision(response, &[flag, "--run", value]);
        let thresholds = &json["thresholds"][name.replace('-', "_")];
        assert_eq!(thresholds.to_string(), value);
    }
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
    let output = project
        .run_piped(&["exit-check", "-"], "/dev/zero")
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

#[test]
fn json_of_no_known_program_is_read_with_one_warning() {
    let project = project();
    let output = project.check("{\"a\":1}\n{\"text\":\"I go on.\"}\n", &[]);
    let warnings = output.stderr.lines();
    let warnings = warnings.filter(|line| line.contains("JSON of no known agent program"));
    assert_eq!(warnings.count(), 1, "{}", output.stderr);
    let answer = project.check("{\"exit_signal\":false}\n", &[]);
    assert_eq!(answer.stderr, "");
}

#[test]
fn a_loop_that_is_another_one_says_so() {
    let project = Project::new();
    for (done, note) in [
        (3, ""),
        (4, "A new loop begins: the plan has other tasks.\n"),
        (4, ""),
    ] {
        project.plan(done, 0);
        let output = project.check("I checked the boxes.", &[]).ends_with(10);
        assert_eq!(output.stderr, note);
    }
}
