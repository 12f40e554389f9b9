//! Output: the answer alone goes to standard output, in each format, everything else to standard
//! error.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::commands::consult::{ask, assert_contains, assert_published};
use crate::support::binary::{Conclave, RunOutput, RunningProcess};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::steady_text::steady;
use crate::support::timeout::blocking;

/// Asks the default panel, with success.
pub(super) fn consult(flags: &[&str]) -> (Conclave, RunOutput) {
    let (conclave, output) = ask(&ProviderServer::start(), flags);
    (conclave, output.ends_with(0))
}

#[test]
fn markdown_is_the_default_and_progress_goes_to_stderr() {
    let (_, output) = consult(&[]);
    let (title, question) = ("# Consultation\n\n", "**Question:** Shall we?");
    assert!(
        output.stdout.starts_with(&(title.to_owned() + question)),
        "{}",
        output.stdout
    );
    let answer = "\n## Answer\n\nStart small, then grow.\n";
    assert_contains(&output.stdout, answer);
    for line in [
        "🔍 Starting consultation with 3 experts...\n",
        "claude-sonnet-5-5",
        " (auto-approved)\n",
        "⚡ Security Expert thinking... (claude-sonnet-5-5)\n",
        "✅ Architect completed (",
        ") · 70%\n  ",
        "📋 Round 1 complete\n",
        "📋 Round 4 complete\n",
        "✨ Consultation complete\n",
    ] {
        output.assert_stderr_contains(line);
    }
    assert!(!output.stdout.contains(['✅', '💰', '\u{1b}']));
    assert!(!output.stderr.contains('\u{1b}'));
}

#[test]
fn other_locale_gets_the_same_lines_in_ascii_and_the_answer_as_it_is() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("LC_ALL", "C");
    let ran = conclave.run(&["consult", "Können wir?"]).ends_with(0);
    assert!(
        ran.stdout.contains("**Question:** Können wir?"),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.is_ascii(), "{}", ran.stderr);
    for line in [
        "Starting consultation with 3 experts...\n",
        "Security Expert thinking... (claude-sonnet-5-5)\n",
        "OK Architect completed (",
        "\nRound 4 complete\n",
    ] {
        ran.assert_stderr_contains(line);
    }
    // Tables are drawn, and JSON is not.
    let list = conclave.run(&["history"]).ends_with(0).stdout;
    assert!(list.contains("Können wir?"), "{list}");
    let doctor = conclave.run(&["doctor"]).stdout;
    assert!(doctor.is_ascii() && doctor.contains("+ "), "{doctor}");
    let events = conclave.run(&["consult", "-q", "--events", "-", "Können wir… ja?"]);
    let events = events.ends_with(0).stderr;
    assert!(events.contains("Können wir… ja?"), "{events}");
    assert!(!consult(&["-q"]).1.stderr.contains("thinking"));
}

#[test]
fn both_prints_markdown_a_separator_and_json() {
    let (_, output) = consult(&["--format", "both"]);
    let (markdown, json) = output.stdout.split_once("\n---\n").unwrap();
    assert!(markdown.starts_with("# Consultation\n"));
    let answer: Value = serde_json::from_str(json).unwrap();
    assert_published(&answer);
    assert_eq!(answer["status"], "complete");
    assert_eq!(answer["state"], "Complete");
    assert_eq!(answer["recommendation"], "Start small, then grow.");
    assert_eq!(answer["question"], "Shall we?");
    assert_eq!(answer["confidence"], 0.8);
    // Each call has 100 input and 20 output tokens, at 2 and 10 dollars per million for all models.
    let cost = &answer["cost"];
    assert_eq!(cost["tokens"]["total"], 9 * 120);
    assert_eq!(cost["micro_usd"], 3_600);
    assert_eq!(cost["lower_bound"], false);
    assert_eq!(cost["calls"], 9);
    assert_eq!(cost["by_provider"].as_object().unwrap().len(), 3);
}

#[test]
fn quiet_prints_nothing_on_stderr() {
    let (_, output) = consult(&["-q"]);
    assert_eq!(output.stderr, "");
    assert!(output.stdout.starts_with("# Consultation\n"));
}

#[test]
fn verbose_adds_the_estimate_and_the_record_path() {
    let (conclave, output) = consult(&["--verbose"]);
    for line in ["   Estimate: ", "   Round 1, ", "   Round 4, "] {
        output.assert_stderr_contains(line);
    }
    let saved = format!("Saved in {}\n", conclave.log("json").display());
    assert!(output.stderr.ends_with(&saved), "{}", output.stderr);
}

#[test]
fn question_can_come_from_standard_input() {
    let server = ProviderServer::start();
    let output = Conclave::at(&server)
        .run_with(
            &["consult", "-", "--format", "json"],
            "\u{feff}First line\nsecond — line?\n",
        )
        .ends_with(0);
    assert_eq!(output.json()["question"], "First line\nsecond — line?");
}

#[test]
fn closed_pipe_is_no_failure() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let mut command = conclave.command();
    command
        .args(["consult", "-q", "Shall we?"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = RunningProcess::of(child).wait().ends_with(0);
    assert_eq!(output.stderr, "");

    for arguments in [
        &["--help"][..],
        &["man"],
        &["completions", "bash"],
        &["models", "list"],
    ] {
        let mut child = conclave
            .command()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let first = blocking("the first line", move || {
            let mut first = String::new();
            stdout.read_line(&mut first).unwrap();
            first
        });
        let output = RunningProcess::of(child).wait().ends_with(0);
        assert!(!first.is_empty(), "{arguments:?}");
        assert_eq!(output.stderr, "", "{arguments:?}");
    }
}

#[test]
fn closed_standard_streams_are_no_failure() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let closed = |what: &str| {
        let script = format!("exec \"$0\" consult --json 'Shall we?' {what}");
        let mut command = std::process::Command::new("/bin/sh");
        command
            .args(["-c", &script, env!("CARGO_BIN_EXE_conclave")])
            .env_clear()
            .envs(conclave.variables())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let output = RunningProcess::of(command.spawn().unwrap()).wait();
        output.ends_with(0).json()
    };
    assert_published(&closed("<&-"));
    assert_published(&closed("2>&-"));
}

#[test]
fn model_texts_cannot_control_the_terminal() {
    let server = ProviderServer::start();
    let hostile = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}fdp.exe\r# Consultation";
    let position = json!({
        "position": hostile,
        "key_points": [hostile],
        "rationale": hostile,
        "confidence": 0.5,
    });
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::text(position.to_string()),
    );
    server.on(
        On::vendor(Vendor::Google).nth(1),
        Answer::http(400, "text/plain", hostile),
    );
    server.on(On::vendor(Vendor::OpenAi).nth(2), Answer::refusal(hostile));
    let question = format!("Shall we{hostile}?");
    let output = Conclave::at(&server)
        .run(&["consult", "--verbose", &question])
        .ends_with(0);
    for text in [&output.stdout, &output.stderr] {
        let forbidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(forbidden), "{text:?}");
    }
    let lines = output.stdout.lines();
    let titles = lines.filter(|line| *line == "# Consultation");
    assert_eq!(titles.count(), 1, "{}", output.stdout);
}

#[test]
fn unread_standard_error_is_no_failure() {
    let server = ProviderServer::start();
    for arguments in [
        &["consult", "Shall we?"][..],
        &["consult", "--events", "-", "Shall we?"],
    ] {
        let conclave = Conclave::at(&server);
        let mut child = conclave
            .command()
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stderr.take());
        assert!(
            RunningProcess::of(child)
                .wait()
                .ends_with(0)
                .stdout
                .starts_with("# Consultation\n")
        );
    }
}

#[test]
fn verbose_shows_what_was_repaired_retried_and_decided() {
    let server = ProviderServer::start();
    let overloaded = Answer::error(529, "overloaded_error", "Overloaded");
    server.on(On::any().nth(1), overloaded.header("retry-after-ms", "1"));
    server.on(On::any().nth(2), Answer::text("Use OAuth. It is enough."));
    // A slow run would report the provider's health, too.
    server.on_free(On::any(), Answer::valid().stall());
    let agreed = r#"{"consensus_points": [{"point": "Use OAuth.", "supporting_agents": ["Expert A"], "confidence": "0.9"}], "tensions": [], "priority_order": []}"#;
    server.on(On::asking_for("consensus_points"), Answer::text(agreed));
    let conclave = Conclave::at(&server).variable("CONCLAVE_HEDGE_AFTER", "off");
    let arguments = [
        "consult",
        "-v",
        "--rounds",
        "2",
        "--panel",
        "security=anthropic:claude-sonnet-5-5",
        "--judge",
        "anthropic:claude-sonnet-5-5",
        "Shall we?",
    ];
    let stderr = conclave.run(&arguments).ends_with(0).stderr;
    let home = conclave.home().display().to_string();
    insta::assert_snapshot!(steady(&stderr.replace(&home, "HOME")));
}
