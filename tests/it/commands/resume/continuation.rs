//! Interrupted consultations and their continuation.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

use conclave::domain::time::Timestamp;
use conclave::records::journal::read_journal;
use rustix::process::Signal;
use serde_json::Value;

use super::{id_of, interrupt_consultation, logs, rejected, stalling_server};
use crate::support::binary::{Conclave, RunningProcess};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::schema;

#[test]
fn resume_asks_only_for_missing_answers() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    let output = interrupt_consultation(&conclave, &server, Signal::INT).ends_with(130);
    let (id, record) = (id_of(&conclave.log("jsonl")), conclave.log("json"));
    let expected = format!(
        "💾 Partial results saved to: {}\n\
         error: Consultation interrupted\n\
         hint: resume it with `conclave resume {id}`\n",
        record.display()
    );
    assert!(output.stderr.ends_with(&expected), "{}", output.stderr);
    assert_eq!(conclave.record()["resume_token"], id.as_str());

    let output = conclave.run(&["resume"]).ends_with(0);
    assert!(output.stdout.starts_with("# Consultation\n"));
    let announcement = format!("Resuming {id} (Round 2 of 4, 3 calls done, ≥ $");
    assert!(
        output.stderr.starts_with(&announcement),
        "{}",
        output.stderr
    );
    assert!(
        output
            .stderr
            .lines()
            .next()
            .unwrap()
            .ends_with(" spent so far)"),
        "{}",
        output.stderr
    );
    assert_eq!(
        server.requests().len(),
        4 + 6,
        "three answers are reused and the judge's lost call is repeated"
    );
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    assert_eq!(record["resume_token"], Value::Null);
    assert_eq!(record["abort_reason"], Value::Null);
    assert_eq!(record["cost"]["lost_calls"], 1);
    assert_eq!(record["cost"]["lower_bound"], true);
    assert_eq!(record["cost"]["calls"], 9);
    let saved = |ending| std::fs::read_to_string(conclave.log(ending)).unwrap();
    assert_eq!(output.stdout, saved("md"));
    let events = read_journal(&conclave.log("jsonl")).unwrap();
    assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq));
}

#[test]
fn killed_process_can_be_resumed() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    assert_eq!(
        interrupt_consultation(&conclave, &server, Signal::KILL).code,
        None
    );
    let output = conclave
        .run(&["resume", "--format", "json", "-q", "last"])
        .ends_with(0);
    assert_eq!(output.stderr, "");
    assert_eq!(output.json()["status"], "complete");
    assert_eq!(server.requests().len(), 10);
}

#[test]
fn run_without_any_answer_can_be_resumed() {
    let server = ProviderServer::start();
    for vendor in [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google] {
        server.on(
            On::vendor(vendor).nth(1),
            Answer::text("never to be finished").stall(),
        );
    }
    let conclave = Conclave::at(&server);
    let running = conclave.start(&["consult", "Shall we?"]);
    server.wait_until("all experts have been asked", |requests| {
        requests.len() == 3
    });
    running.signal(Signal::INT);
    let output = running.wait().ends_with(130);
    assert!(
        output.stderr.contains("💾 Partial results saved to: "),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("conclave resume consult-"),
        "{}",
        output.stderr
    );
    let output = conclave.run(&["resume"]).ends_with(0);
    assert!(
        output
            .stderr
            .contains("(Round 1 of 4, no call done, ≥ $0.00 spent so far)"),
        "{}",
        output.stderr
    );
}

/// Puts everything in a journal an hour into the past.
fn age(journal: &Path) {
    let text = std::fs::read_to_string(journal).unwrap();
    let mut aged = String::new();
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for key in ["/at", "/data/artifact/created_at"] {
            let Some(time) = line.pointer_mut(key) else {
                continue;
            };
            let mut at: Timestamp = serde_json::from_value(time.take()).unwrap();
            at.0 -= 3_600_000;
            *time = serde_json::to_value(at).unwrap();
        }
        let _ = writeln!(aged, "{line}");
    }
    std::fs::write(journal, aged).unwrap();
}

#[test]
fn resume_shows_no_seat_longer_than_the_run() {
    let server = ProviderServer::start();
    let stalled = Answer::text("never to be finished").stall();
    server.on(On::vendor(Vendor::Google).nth(1), stalled);
    let conclave = Conclave::at(&server).variable("TERM", "xterm-256color");
    let running = conclave.start(&["consult", "Shall we?"]);
    server.wait_until("two experts have answered", |requests| {
        requests.len() == 3 && requests.iter().filter(|request| request.complete).count() == 2
    });
    running.signal(Signal::INT);
    running.wait().ends_with(130);
    age(&conclave.log("jsonl"));
    let terminal = Terminal::start(&conclave, 80, Output::Terminal, &["resume", "--yes"]);
    let (ran, transcript) = terminal.end();
    let text = transcript.text();
    assert_eq!(ran.code, Some(0), "{text}");
    let answered: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("✔ Pragmatist  "))
        .collect();
    assert!(!answered.is_empty(), "{text}");
    // An hour is `3600.0s`, `3600s` or `1:00:00`.
    for hour in ["3600", "3601", "1:00:0"] {
        assert!(!text.contains(hour), "{hour}: {text}");
    }
}

#[test]
fn missing_result_files_are_written_without_any_request() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let answer = conclave.run(&["consult", "Shall we?"]).ends_with(0).stdout;
    std::fs::remove_file(conclave.log("json")).unwrap();
    // No key is needed, because no model is asked.
    let conclave = conclave
        .without("ANTHROPIC_API_KEY")
        .without("OPENAI_API_KEY");
    let shown = conclave.run(&["resume", "--dry-run", "--json"]);
    let shown = shown.ends_with(0).json();
    schema::check(
        include_str!("../../../../schemas/dry_run.schema.json"),
        &shown,
    );
    assert_eq!(shown["consent"], Value::Null);
    let shown = conclave.run(&["resume", "--dry-run"]).ends_with(0).stdout;
    let has_figures = ["Consent", "In all"].map(|words| shown.contains(words));
    assert_eq!(has_figures, [false; 2], "{shown}");
    let output = conclave.run(&["resume"]).ends_with(0);
    assert_eq!(output.stdout, answer);
    assert_eq!(conclave.record()["status"].as_str(), Some("complete"));
    assert_eq!(server.requests().len(), 9);
    assert!(
        output
            .stderr
            .contains("is complete; only its results are missing"),
        "{}",
        output.stderr
    );
}

#[test]
fn resume_skips_a_running_consultation() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::KILL);
    let older = id_of(&conclave.log("jsonl"));
    let elsewhere = ProviderServer::start();
    elsewhere.on(On::any(), Answer::text("never to be finished").stall());
    let mut command = conclave.command();
    command
        .args(["consult", "Shall we too?"])
        .envs(elsewhere.variables());
    let running = RunningProcess::of(
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    elsewhere.wait_until("all experts have been asked", |requests| {
        requests.len() == 3
    });
    let newer = std::fs::read_dir(logs(&conclave))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let newer = newer
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .map(|path| id_of(&path))
        .max()
        .unwrap();
    assert_ne!(newer, older);
    for force in [&[][..], &["--force"]] {
        let stderr = rejected(&conclave, &server, &[&[newer.as_str()], force].concat());
        assert!(
            stderr.contains(&format!(
                "{newer}.jsonl` is being written by another process\n"
            )),
            "{stderr}"
        );
    }
    let output = conclave.run(&["resume"]).ends_with(0);
    assert!(
        output.stderr.starts_with(&format!("Resuming {older} ")),
        "{}",
        output.stderr
    );
    let stderr = rejected(&conclave, &server, &[]);
    assert!(
        stderr.ends_with("hint: another process is running 1 consultation\n"),
        "{stderr}"
    );
    running.signal(Signal::KILL);
    running.wait();
    let output = conclave.run(&["resume"]).ends_with(0);
    assert!(
        output.stderr.starts_with(&format!("Resuming {newer} ")),
        "{}",
        output.stderr
    );
}

#[test]
fn resume_uses_the_original_panel_and_prompts() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    let before = conclave.record();
    let prompts = conclave.home().join("prompts/converge");
    std::fs::create_dir_all(&prompts).unwrap();
    std::fs::write(
        prompts.join("verdict.md"),
        "---\nversion: v9\n---\nIgnore everything.",
    )
    .unwrap();
    let conclave = conclave
        .config(r#"{"panel": "security=openai:gpt-6.1-sol", "judge": "openai:gpt-6.1-sol"}"#);
    conclave.run(&["resume"]).ends_with(0);
    let after = conclave.record();
    for same in [
        "question",
        "panel",
        "prompt_versions",
        "seed",
        "estimated_cost",
        "consent",
        "timestamp",
    ] {
        assert_eq!(after[same], before[same], "{same}");
    }
    assert!(
        after["cost"]["usd"].as_f64().unwrap() < 0.5,
        "{}",
        after["cost"]
    );
    assert!(
        !server
            .requests()
            .iter()
            .any(|request| request.body.to_string().contains("Ignore everything"))
    );
}

#[test]
fn unwritable_journal_is_reported_once_on_resume() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    // Files are limited to a few kilobytes, the journal and the record alike.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" resume";
    let mut command = std::process::Command::new("/bin/sh");
    command
        .args(["-c", script, env!("CARGO_BIN_EXE_conclave")])
        .env_clear()
        .envs(conclave.variables());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = RunningProcess::of(command.spawn().unwrap())
        .wait()
        .ends_with(0);
    assert!(output.stdout.starts_with("# Consultation\n"));
    assert_eq!(
        output
            .stderr
            .matches("Failed to write consultation log: ")
            .count(),
        1,
        "{}",
        output.stderr
    );
}
