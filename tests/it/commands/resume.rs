//! `conclave resume`: a consultation that was cut off goes on, from wherever it was cut off, and
//! what was answered is not asked again.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use conclave::consultation::event::{CallEvent, ConsultationEvent, Envelope, Event};
use conclave::records::journal::read_journal;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::binary::{Conclave, RunOutput, RunningProcess};
use crate::support::comparable::comparable;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// A server whose judge does not answer when it is first asked.
fn stalling() -> ProviderServer {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi).nth(2),
        Answer::text("never to be finished").stall(),
    );
    server
}

/// A consultation that is sent this signal while the judge thinks, after three answers.
fn cut_off(conclave: &Conclave, server: &ProviderServer, signal: Signal) -> RunOutput {
    let before = server.requests().len();
    let running = conclave.start(&["consult", "Shall we?"]);
    server.wait_until("the judge is asked", |asked| asked.len() == before + 4);
    running.signal(signal);
    running.wait()
}

fn id_of(journal: &Path) -> String {
    journal.file_stem().unwrap().to_str().unwrap().to_owned()
}

fn logs(conclave: &Conclave) -> PathBuf {
    conclave.home().join("consult-logs")
}

fn finished(events: &[Envelope]) -> usize {
    events
        .iter()
        .filter(|envelope| matches!(envelope.event, Event::Call(CallEvent::Finished(_))))
        .count()
}

/// A run that is refused before anything is asked; what it says.
fn refused(conclave: &Conclave, server: &ProviderServer, arguments: &[&str]) -> String {
    let before = server.requests().len();
    let ran = conclave
        .run(&[&["resume"], arguments].concat())
        .ends_with(2);
    assert_eq!(ran.stdout, "");
    assert_eq!(server.requests().len(), before);
    ran.stderr
}

#[test]
fn resume_asks_only_for_missing_answers() {
    let server = stalling();
    let conclave = Conclave::at(&server);
    let ran = cut_off(&conclave, &server, Signal::INT).ends_with(130);
    let (id, record) = (id_of(&conclave.log("jsonl")), conclave.log("json"));
    let told = format!(
        "💾 Partial results saved to: {}\nerror: Consultation interrupted\nhint: go on with it: conclave resume {id}\n",
        record.display()
    );
    assert!(ran.stderr.ends_with(&told), "{}", ran.stderr);
    assert_eq!(conclave.record()["resume_token"], id.as_str());

    let ran = conclave.run(&["resume"]).ends_with(0);
    assert!(ran.stdout.starts_with("# Consultation Summary\n"));
    let announced = format!("Resuming {id} (Round 2 of 4, 3 calls kept, ≥ $");
    assert!(ran.stderr.starts_with(&announced), "{}", ran.stderr);
    assert!(
        ran.stderr
            .lines()
            .next()
            .unwrap()
            .ends_with(" spent so far)"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        server.requests().len(),
        4 + 6,
        "three answers are kept, and the judge's lost call is made again"
    );
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    assert_eq!(record["resume_token"], Value::Null);
    assert_eq!(record["abort_reason"], Value::Null);
    assert_eq!(record["cost"]["lost_calls"], 1);
    assert_eq!(record["cost"]["lower_bound"], true);
    assert_eq!(record["cost"]["calls"], 9);
    let kept = |ending| std::fs::read_to_string(conclave.log(ending)).unwrap();
    assert_eq!(ran.stdout, kept("md"));
    let events = read_journal(&conclave.log("jsonl")).unwrap().events;
    assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq));
}

#[test]
fn killed_process_can_be_resumed() {
    let server = stalling();
    let conclave = Conclave::at(&server);
    assert_eq!(cut_off(&conclave, &server, Signal::KILL).code, None);
    let ran = conclave
        .run(&["resume", "--format", "json", "-q", "last"])
        .ends_with(0);
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.json()["status"], "complete");
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
    server.wait_until("everyone is asked", |asked| asked.len() == 3);
    running.signal(Signal::INT);
    let ran = running.wait().ends_with(130);
    assert!(
        ran.stderr.contains("💾 Partial results saved to: "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("conclave resume consult-"),
        "{}",
        ran.stderr
    );
    let ran = conclave.run(&["resume"]).ends_with(0);
    assert!(
        ran.stderr
            .contains("(Round 1 of 4, no call kept, ≥ $0.00 spent so far)"),
        "{}",
        ran.stderr
    );
}

#[test]
fn unlogged_consultation_cannot_be_resumed() {
    let server = stalling();
    let conclave = Conclave::at(&server);
    let running = conclave.start(&["consult", "--no-log", "Shall we?"]);
    server.wait_until("the judge is asked", |asked| asked.len() == 4);
    running.signal(Signal::INT);
    let ran = running.wait().ends_with(130);
    assert!(!ran.stderr.contains("Partial results"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("resume"), "{}", ran.stderr);
    assert_eq!(
        refused(&conclave, &server, &[]),
        "error: there is no consultation to go on with\nhint: ask something: conclave consult \"…\"\n"
    );
}

#[test]
fn resume_of_a_complete_consultation_names_its_answer() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let id = id_of(&conclave.log("jsonl"));
    let complete = format!(
        "error: {id} is complete\nhint: its answer is in {}\n",
        conclave.log("md").display()
    );
    let (bare, prefix) = (id.strip_prefix("consult-").unwrap(), id.get(..20).unwrap());
    for name in [
        id.as_str(),
        bare,
        prefix,
        "last",
        conclave.log("jsonl").to_str().unwrap(),
    ] {
        assert_eq!(refused(&conclave, &server, &[name]), complete, "{name}");
    }
    assert!(
        refused(&conclave, &server, &[])
            .starts_with("error: there is no consultation to go on with\n")
    );
}

#[test]
fn missing_result_files_are_written_without_any_request() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let answer = conclave.run(&["consult", "Shall we?"]).ends_with(0).stdout;
    std::fs::remove_file(conclave.log("json")).unwrap();
    // Nobody has to be there who is not asked.
    let conclave = conclave
        .without("ANTHROPIC_API_KEY")
        .without("OPENAI_API_KEY");
    let ran = conclave.run(&["resume"]).ends_with(0);
    assert_eq!(ran.stdout, answer);
    assert_eq!(conclave.record()["status"].as_str(), Some("complete"));
    assert_eq!(server.requests().len(), 9);
    assert!(
        ran.stderr
            .contains("is complete; only its results were not written"),
        "{}",
        ran.stderr
    );
}

#[test]
fn ambiguous_name_lists_the_consultations() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    for question in ["One?", "Two?\nReally?"] {
        conclave.run(&["consult", question]).ends_with(0);
    }
    let told = refused(&conclave, &server, &["01"]);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "error: `01` could be any of 2 consultations");
    assert!(lines[1].starts_with("hint: 01"), "the newest first: {told}");
    assert!(
        lines[1].ends_with("  Two? Really?"),
        "the newest first: {told}"
    );
    assert!(lines[2].starts_with("hint: 01"), "{told}");
    assert!(lines[2].contains("  20"), "{told}");
    assert!(lines[2].ends_with("  One?"), "{told}");
    assert!(
        refused(&conclave, &server, &["02"]).starts_with("error: no consultation is called `02`\n")
    );
}

#[test]
fn resume_skips_a_running_consultation() {
    let server = stalling();
    let conclave = Conclave::at(&server);
    cut_off(&conclave, &server, Signal::KILL);
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
    elsewhere.wait_until("everyone is asked", |asked| asked.len() == 3);
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
        let told = refused(&conclave, &server, &[&[newer.as_str()], force].concat());
        assert!(
            told.contains(&format!(
                "{newer}.jsonl` is being written by another process\n"
            )),
            "{told}"
        );
    }
    let ran = conclave.run(&["resume"]).ends_with(0);
    assert!(
        ran.stderr.starts_with(&format!("Resuming {older} ")),
        "{}",
        ran.stderr
    );
    let told = refused(&conclave, &server, &[]);
    assert!(
        told.ends_with("hint: another process is at work on 1 consultation\n"),
        "{told}"
    );
    running.signal(Signal::KILL);
    running.wait();
    let ran = conclave.run(&["resume"]).ends_with(0);
    assert!(
        ran.stderr.starts_with(&format!("Resuming {newer} ")),
        "{}",
        ran.stderr
    );
}

#[test]
fn declined_old_and_damaged_journals_are_rejected() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 0}"#);
    conclave.run(&["consult", "Shall we?"]).ends_with(3);
    assert!(
        refused(&conclave, &server, &["last"])
            .contains(" was declined before anything was asked\nhint: ask again: ")
    );

    let fixture =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/records/fixtures/journal-1.0.jsonl");
    let old = logs(&conclave).join("consult-00old.jsonl");
    std::fs::write(
        &old,
        std::fs::read_to_string(fixture)
            .unwrap()
            .trim_end()
            .rsplit_once('\n')
            .unwrap()
            .0
            .to_owned()
            + "\n",
    )
    .unwrap();
    assert!(
        refused(&conclave, &server, &["00old"])
            .contains("it was written by a version that did not keep enough to go on from\n")
    );

    std::fs::write(logs(&conclave).join("consult-00empty.jsonl"), "{\"torn").unwrap();
    assert!(refused(&conclave, &server, &["00empty"]).contains("its journal is empty\n"));

    let declined = std::fs::read_dir(logs(&conclave))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let declined = declined
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .max()
        .unwrap();
    let journal = std::fs::read_to_string(declined).unwrap();
    let damaged: String = journal
        .lines()
        .take(5)
        .map(|line| line.replace("\"seq\":3", "\"seq\":three") + "\n")
        .collect();
    std::fs::write(logs(&conclave).join("consult-00bad.jsonl"), damaged).unwrap();
    let told = refused(&conclave, &server, &["00bad"]);
    assert!(told.contains("error: line 3 of journal `"), "{told}");
    assert!(told.contains("is not an event\n  caused by: "), "{told}");

    let changed: String = journal
        .lines()
        .take(5)
        .map(|line| line.replace("\"to\":\"AwaitingConsent\"", "\"to\":\"Verdict\"") + "\n")
        .collect();
    std::fs::write(logs(&conclave).join("consult-00else.jsonl"), changed).unwrap();
    let told = refused(&conclave, &server, &["00else"]);
    assert!(
        told.contains("event 4 does not follow from those before it"),
        "{told}"
    );
}

#[test]
fn missing_key_is_reported_with_its_seat() {
    let server = stalling();
    let conclave = Conclave::at(&server);
    cut_off(&conclave, &server, Signal::INT);
    let conclave = conclave.without("GEMINI_API_KEY").without("GOOGLE_API_KEY");
    let told = refused(&conclave, &server, &[]);
    let expected = "error: Pragmatist is played by google:";
    assert!(told.starts_with(expected), "{told}");
    assert!(
        told.contains(", and there is no key for Google\nhint: set "),
        "{told}"
    );
}

#[test]
fn resume_uses_the_original_panel_prompts_and_prices() {
    let server = stalling();
    let conclave = Conclave::at(&server);
    cut_off(&conclave, &server, Signal::INT);
    let before = conclave.record();
    let prompts = conclave.home().join("prompts/converge");
    std::fs::create_dir_all(&prompts).unwrap();
    std::fs::write(
        prompts.join("verdict.md"),
        "---\nversion: v9\n---\nIgnore everything.",
    )
    .unwrap();
    let dear = r#"{"models": [{"provider": "openai", "id": "gpt-6.1-sol", "prices": [{"input": 900, "output": 900, "as_of": "2026-11-21"}]}]}"#;
    std::fs::write(conclave.home().join("models.json"), dear).unwrap();
    let conclave = conclave.config(r#"{"panel": "security=openai:gpt-6.1-sol", "judge": "openai:gpt-6.1-sol", "always_allow_under": 0}"#);
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
fn resume_flags_override_the_original_terms() {
    let server = stalling();
    let conclave = Conclave::at(&server);
    cut_off(&conclave, &server, Signal::INT);
    let ran = conclave
        .run(&["resume", "--max-cost", "0.000001"])
        .ends_with(4);
    assert_eq!(
        server.requests().len(),
        4,
        "no call is made that could break the ceiling"
    );
    assert!(
        ran.stderr.contains("💾 Partial results saved to: "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("hint: of $"), "{}", ran.stderr);
    let id = id_of(&conclave.log("jsonl"));
    assert!(
        ran.stderr.ends_with(&format!(
            "hint: go on with it: conclave resume {id} --max-cost USD\n"
        )),
        "{}",
        ran.stderr
    );
    assert_eq!(conclave.record()["abort_reason"], "cost_ceiling");
    conclave.run(&["resume"]).ends_with(4);
    conclave.run(&["resume", "--max-cost", "5"]).ends_with(0);
    assert_eq!(conclave.record()["status"], "complete");
    assert!(
        conclave
            .run(&["resume", "--hedge-after", "soon"])
            .ends_with(2)
            .stderr
            .contains("error: ")
    );
}

#[test]
fn unwritable_journal_is_reported_once_on_resume() {
    let server = stalling();
    let conclave = Conclave::at(&server);
    cut_off(&conclave, &server, Signal::INT);
    // No file may grow beyond a few kilobytes: neither the journal nor the record.
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
    let ran = RunningProcess::of(command.spawn().unwrap())
        .wait()
        .ends_with(0);
    assert!(ran.stdout.starts_with("# Consultation Summary\n"));
    assert_eq!(
        ran.stderr
            .matches("Failed to write consultation log: ")
            .count(),
        1,
        "{}",
        ran.stderr
    );
}

/// A home with the first lines of a journal, as a kill after the last of them leaves it; with a
/// torn line behind.
fn home_with(server: &ProviderServer, id: &str, journal: &str) -> Conclave {
    let conclave = Conclave::at(server);
    std::fs::create_dir_all(logs(&conclave)).unwrap();
    std::fs::write(logs(&conclave).join(format!("{id}.jsonl")), journal).unwrap();
    conclave
}

/// A whole consultation: its id, its journal, its record.
fn whole() -> (String, String, Value) {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let journal = conclave.log("jsonl");
    (
        id_of(&journal),
        std::fs::read_to_string(&journal).unwrap(),
        comparable(conclave.record()),
    )
}

#[test]
fn resume_after_any_journal_line_yields_the_same_record() {
    let (id, journal, expected) = whole();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    for kept in 1..=lines.len() {
        let server = ProviderServer::start();
        let torn = lines
            .get(kept)
            .map_or("", |line| line.split_at(line.len() / 2).0);
        let conclave = home_with(&server, &id, &(lines[..kept].concat() + torn));
        let had = finished(&read_journal(&conclave.log("jsonl")).unwrap().events);
        conclave.run(&["resume", "-q"]).ends_with(0);
        assert_eq!(server.requests().len(), 9 - had, "killed after line {kept}");
        assert_eq!(
            comparable(conclave.record()),
            expected,
            "killed after line {kept}"
        );
        assert!(
            std::fs::read_to_string(conclave.log("jsonl"))
                .unwrap()
                .starts_with(&lines[..kept].concat())
        );
    }
}

/// The calls that a journal says came back, as the server knows them: by model and kind of answer.
fn answered(events: &[Envelope]) -> Vec<(String, &'static str)> {
    let finished = events.iter().filter_map(|envelope| match &envelope.event {
        Event::Call(CallEvent::Finished(finished)) => {
            Some((finished.model.model.clone(), finished.answer.name()))
        }
        _ => None,
    });
    finished.collect()
}

#[test]
fn resume_after_a_kill_at_any_time_repeats_no_answer() {
    let times = std::env::vars()
        .find(|(name, _)| name == "CONCLAVE_TEST_KILLS")
        .map_or(6, |(_, value)| value.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(4);
    for number in 0..times {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let arrivals = 1 + number % 9;
        let running = conclave.start(&["consult", "Shall we?"]);
        server.wait_until("so many have been asked", |asked| asked.len() >= arrivals);
        // From there on a little further, each time another way.
        for _ in 0..random.u32(0..4_000) {
            std::thread::yield_now();
        }
        running.signal(Signal::KILL);
        running.wait();
        let events = read_journal(&conclave.log("jsonl")).unwrap().events;
        let had = answered(&events);
        let resumed = conclave.run(&["resume", "-q"]);
        let is_complete = events.iter().any(|envelope| {
            matches!(
                envelope.event,
                Event::Consultation(ConsultationEvent::Completed { .. })
            )
        });
        if is_complete && resumed.code == Some(2) {
            // Killed when all was done and kept.
            assert!(
                resumed
                    .stderr
                    .contains("there is no consultation to go on with"),
                "{}",
                resumed.stderr
            );
        } else {
            resumed.ends_with(0);
        }
        let asked = model_requests(&server);
        for (model, kind) in had {
            let times = asked
                .iter()
                .filter(|asked| asked.model == model && asked.answer == kind)
                .count();
            assert_eq!(times, 1, "kill {number}: {kind} of {model} had come back");
        }
        let record = conclave.record();
        assert_eq!(record["status"], "complete", "kill {number}");
        assert_eq!(record["cost"]["calls"], 9, "kill {number}");
        assert_eq!(
            record["completed_rounds"],
            json!([1, 2, 3, 4]),
            "kill {number}"
        );
        assert_eq!(record["degradations"], json!([]), "kill {number}");
    }
}
