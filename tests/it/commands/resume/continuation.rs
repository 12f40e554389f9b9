//! Interrupted consultations and their continuation.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

use conclave::domain::time::Timestamp;
use conclave::records::journal::read_journal;
use rustix::process::Signal;
use serde_json::Value;

use super::{id_of, interrupt_consultation, rejected, stalling_server};
use conclave::domain::ids::short_id;

use crate::commands::succeed;
use crate::support::binary::{Conclave, RunningProcess};
use crate::support::provider_server::{Answer, On, ProviderServer, RecordedRequest, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::schema;

#[test]
fn resume_asks_only_for_missing_answers() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    let output = interrupt_consultation(&conclave, &server, Signal::INT).ends_with(130);
    let id = id_of(&conclave.log("jsonl"));
    let expected = format!(
        "💾 Partial results saved to: {}\n\
         Consultation interrupted\n\
         hint: resume it with `conclave resume {}`\n",
        conclave.log("json").display(),
        short_id(&id)
    );
    assert!(output.stderr.ends_with(&expected), "{}", output.stderr);
    assert_eq!(conclave.record()["resume_token"], id.as_str());

    let output = succeed(&conclave, &["resume"]);
    let announced = output.stderr.lines().next().unwrap();
    let begins = format!(
        "Resuming {} (Round 2 of 4, 3 calls done, ≥ $",
        short_id(&id)
    );
    assert!(announced.starts_with(&begins), "{announced}");
    assert!(announced.ends_with(" spent so far)"), "{announced}");
    assert_eq!(
        server.requests().len(),
        4 + 6,
        "three answers are reused and the judge's lost call is repeated"
    );
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    assert_eq!(record["resume_token"], Value::Null);
    assert_eq!(record["abort_reason"], Value::Null);
    let cost = &record["cost"];
    assert_eq!(cost["lost_calls"], 1);
    assert_eq!(cost["lower_bound"], true);
    assert_eq!(cost["calls"], 9);
    let saved = std::fs::read_to_string(conclave.log("md")).unwrap();
    assert!(saved.starts_with("# Consultation\n"), "{saved}");
    assert_eq!(output.stdout, saved);
    let events = read_journal(&conclave.log("jsonl")).unwrap();
    assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq));
}

#[test]
fn run_without_any_answer_can_be_resumed() {
    let server = ProviderServer::start();
    let stalled = Answer::text("never to be finished").stall();
    server.on(On::any(), stalled);
    let conclave = Conclave::at(&server);
    let running = conclave.start(&["consult", "Shall we?"]);
    server.wait_until("all experts are asked", |requests| requests.len() == 3);
    running.signal(Signal::INT);
    let output = running.wait().ends_with(130);
    output.assert_stderr_contains("💾 Partial results saved to: ");
    output.assert_stderr_contains("conclave resume 01");
    server.on(On::any(), Answer::valid());
    let output = conclave.run(&["resume"]).ends_with(0);
    output.assert_stderr_contains("(Round 1 of 4, no call done, an unknown amount spent so far)");
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
        .filter(|line| line.contains("✔ Pragmatist  "))
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
    output.assert_stderr_contains("is complete; only its results are missing");
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
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let running = RunningProcess::of(command.spawn().unwrap());
    elsewhere.wait_until("all experts are asked", |requests| requests.len() == 3);
    let listed = succeed(&conclave, &["history", "--json", "-n", "1"]).json();
    let newer = &listed["consultations"][0]["consultation_id"];
    let newer = newer.as_str().unwrap();
    assert_ne!(newer, older);
    for force in [&[][..], &["--force"]] {
        let stderr = rejected(&conclave, &server, &[&[newer], force].concat());
        let held = format!("{newer}.jsonl` is being written by another process\n");
        assert!(stderr.contains(&held), "{stderr}");
    }
    let resumes = |id: &str| {
        let stderr = succeed(&conclave, &["resume"]).stderr;
        assert!(
            stderr.starts_with(&format!("Resuming {} ", short_id(id))),
            "{stderr}"
        );
    };
    resumes(&older);
    let stderr = rejected(&conclave, &server, &[]);
    let hint = "hint: another process is running 1 consultation\n";
    assert!(stderr.ends_with(hint), "{stderr}");
    running.signal(Signal::KILL);
    running.wait();
    resumes(newer);
}

#[test]
fn resume_uses_the_original_panel_and_prompts() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    let before = conclave.record();
    let prompts = conclave.home().join("prompts/converge");
    std::fs::create_dir_all(&prompts).unwrap();
    let other = "---\nversion: v9\n---\nIgnore everything.";
    std::fs::write(prompts.join("verdict.md"), other).unwrap();
    let conclave = conclave
        .config(r#"{"panel": "security=openai:gpt-6.1-sol", "judge": "openai:gpt-6.1-sol"}"#);
    succeed(&conclave, &["resume"]);
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
    let has_other =
        |request: &RecordedRequest| request.body.to_string().contains("Ignore everything");
    assert!(!server.requests().iter().any(has_other));
}

#[test]
fn unwritable_journal_is_reported_once_on_resume() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    // Files are limited to a few kilobytes, the journal and the record alike.
    let output = conclave.run_limited("-f 8", "resume").ends_with(0);
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
