//! Consultations that cannot be resumed.

use std::path::Path;

use rustix::process::Signal;

use super::{id_of, interrupt_consultation, logs, rejected, stalling_server};
use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

#[test]
fn unlogged_consultation_cannot_be_resumed() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    let running = conclave.start(&["consult", "--no-log", "Shall we?"]);
    server.wait_until("the judge is asked", |requests| requests.len() == 4);
    running.signal(Signal::INT);
    let output = running.wait().ends_with(130);
    assert!(
        !output.stderr.contains("Partial results"),
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("resume"), "{}", output.stderr);
    assert_eq!(
        rejected(&conclave, &server, &[]),
        "error: there is no consultation to resume\nhint: ask something with `conclave consult \"…\"`\n"
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
        assert_eq!(rejected(&conclave, &server, &[name]), complete, "{name}");
    }
    assert!(
        rejected(&conclave, &server, &[])
            .starts_with("error: there is no consultation to resume\n")
    );
}

#[test]
fn complete_record_ends_a_consultation_whose_journal_ends_early() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let (journal, record) = (conclave.log("jsonl"), conclave.log("json"));
    let id = id_of(&journal);
    let text = std::fs::read_to_string(&journal).unwrap();
    // The disk was full from the first call on, and had room again for the record.
    let beginning: String = text.split_inclusive('\n').take(8).collect();
    std::fs::write(&journal, &beginning).unwrap();
    let stderr = rejected(&conclave, &server, &[&id]);
    assert!(
        stderr.starts_with(&format!("error: {id} is complete\nhint: its answer is in ")),
        "{stderr}"
    );
    assert!(
        rejected(&conclave, &server, &[])
            .starts_with("error: there is no consultation to resume\n")
    );
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), beginning);
    assert_eq!(conclave.record()["status"], "complete");

    // A record that cannot be read ends nothing.
    std::fs::write(&record, "{").unwrap();
    conclave.run(&["resume"]).ends_with(0);
}

#[test]
fn ambiguous_name_lists_the_consultations() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    for question in ["One?", "Two?\nReally?"] {
        conclave.run(&["consult", question]).ends_with(0);
    }
    let stderr = rejected(&conclave, &server, &["01"]);
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(
        lines[0],
        "error: `01` matches several consultations: 2 consultations"
    );
    assert!(
        lines[1].starts_with("hint: 01"),
        "the newest first: {stderr}"
    );
    assert!(
        lines[1].ends_with("  Two? Really?"),
        "the newest first: {stderr}"
    );
    assert!(lines[2].starts_with("hint: 01"), "{stderr}");
    assert!(lines[2].contains("  20"), "{stderr}");
    assert!(lines[2].ends_with("  One?"), "{stderr}");
    assert!(
        rejected(&conclave, &server, &["02"])
            .starts_with("error: no consultation is called `02`\n")
    );
}

/// Events before the first call.
#[cfg(not(feature = "local"))]
const BEGINNING: usize = 3;

#[cfg(not(feature = "local"))]
#[test]
fn build_without_a_local_model_does_not_download_one() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT).ends_with(130);
    let journal = conclave.log("jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    // The beginning of the consultation, as if it had been killed, with another model.
    let beginning: String = text.split_inclusive('\n').take(BEGINNING).collect();
    let model = "local:smollm2-135m-instruct";
    std::fs::write(&journal, beginning.replace("openai:gpt-6.1-sol", model)).unwrap();
    assert_eq!(
        rejected(&conclave, &server, &["--yes"]),
        "error: this build has no local model\n\
         hint: build it in with `cargo build --release --features local`\n"
    );
    assert!(!conclave.home().join("models").exists());
}

#[test]
fn declined_old_and_damaged_journals_are_rejected() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 0}"#);
    conclave.run(&["consult", "Shall we?"]).ends_with(3);
    assert!(
        rejected(&conclave, &server, &["last"])
            .contains(" was declined before anything was asked\nhint: ask again with ")
    );

    let journal = include_str!("../../records/stored/fixtures/journal-1.0.jsonl");
    let other = journal.replace("\"schema_version\":\"1.0\"", "\"schema_version\":\"0.9\"");
    let open = other.trim_end().rsplit_once('\n').unwrap().0;
    std::fs::write(
        logs(&conclave).join("consult-00old.jsonl"),
        format!("{open}\n"),
    )
    .unwrap();
    assert!(
        rejected(&conclave, &server, &["00old"])
            .contains(" was written by another version of conclave and cannot be resumed\n")
    );

    std::fs::write(logs(&conclave).join("consult-00empty.jsonl"), "{\"torn").unwrap();
    assert!(rejected(&conclave, &server, &["00empty"]).contains("its journal is empty\n"));

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
    let stderr = rejected(&conclave, &server, &["00bad"]);
    assert!(stderr.contains("error: line 3 of `"), "{stderr}");
    assert!(
        stderr.contains("is not an event\n  caused by: "),
        "{stderr}"
    );

    let changed: String = journal
        .lines()
        .take(5)
        .map(|line| line.replace("\"to\":\"AwaitingConsent\"", "\"to\":\"Aborted\"") + "\n")
        .collect();
    std::fs::write(logs(&conclave).join("consult-00else.jsonl"), changed).unwrap();
    let stderr = rejected(&conclave, &server, &["00else"]);
    assert!(
        stderr.contains("event 4 does not follow from those before it"),
        "{stderr}"
    );
}

#[test]
fn missing_key_is_reported_with_its_seat() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    let conclave = conclave.without("GEMINI_API_KEY").without("GOOGLE_API_KEY");
    let stderr = rejected(&conclave, &server, &[]);
    let expected = "error: Pragmatist uses google:";
    assert!(stderr.starts_with(expected), "{stderr}");
    assert!(
        stderr.contains(", and there is no key for Google\nhint: set "),
        "{stderr}"
    );
}

/// Rewrites the journal of an interrupted consultation, line by line.
fn rewrite(journal: &Path, change: impl Fn(&str) -> String) {
    let text = std::fs::read_to_string(journal).unwrap();
    let changed: String = text.lines().map(|line| change(line) + "\n").collect();
    assert_ne!(changed, text);
    std::fs::write(journal, changed).unwrap();
}

#[test]
fn journal_with_a_forbidden_transition_is_not_resumed() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT).ends_with(130);
    let journal = conclave.log("jsonl");
    rewrite(&journal, |line| {
        line.replace(
            r#"{"from":"Independent","to":"Synthesis"}"#,
            r#"{"from":"Independent","to":"Verdict"}"#,
        )
    });
    let id = id_of(&journal);
    let stderr = rejected(&conclave, &server, &[&id]);
    assert!(
        stderr.starts_with(&format!("error: cannot resume {id}: event "))
            && stderr.ends_with(": a consultation in state Independent cannot become Verdict\n"),
        "{stderr}"
    );
}

#[test]
fn journal_with_an_artifact_without_a_version_is_not_resumed() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT).ends_with(130);
    let journal = conclave.log("jsonl");
    rewrite(&journal, |line| {
        line.replace(r#""artifact":{"schema_version":"1.0","#, r#""artifact":{"#)
    });
    let id = id_of(&journal);
    let reason = "Missing required field: schema_version";
    let stderr = rejected(&conclave, &server, &[&id]);
    assert!(stderr.contains(reason), "{stderr}");

    std::fs::remove_file(conclave.log("json")).unwrap();
    let shown = conclave.run(&["history", "show", &id]).ends_with(1);
    assert!(shown.stderr.contains(reason), "{}", shown.stderr);
}
