//! Consultations that cannot be resumed.

use rustix::process::Signal;

use super::{id_of, interrupt_consultation, rejected, stalling_server};
use conclave::domain::ids::short_id;

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;
use crate::support::saved::log_folder;

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
        "error: {} is complete\nhint: its answer is in {}\n",
        short_id(&id),
        conclave.log("md").display()
    );
    for name in [id.as_str(), "last"] {
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
        stderr.starts_with(&format!(
            "error: {} is complete\nhint: its answer is in ",
            short_id(&id)
        )),
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
    let declined = conclave.log("jsonl");
    assert!(
        rejected(&conclave, &server, &["last"])
            .contains(" was declined before anything was asked\nhint: ask again with ")
    );

    let journal = include_str!("../../records/stored/fixtures/journal-1.0.jsonl");
    let other = journal.replace("\"schema_version\":\"1.0\"", "\"schema_version\":\"0.9\"");
    let open = other.trim_end().rsplit_once('\n').unwrap().0;
    std::fs::write(
        log_folder(&conclave).join("consult-00old.jsonl"),
        format!("{open}\n"),
    )
    .unwrap();
    assert!(
        rejected(&conclave, &server, &["00old"])
            .contains(" was written by another version of conclave and cannot be resumed\n")
    );

    std::fs::write(
        log_folder(&conclave).join("consult-00empty.jsonl"),
        "{\"torn",
    )
    .unwrap();
    assert!(rejected(&conclave, &server, &["00empty"]).contains("its journal is empty\n"));

    let journal = std::fs::read_to_string(declined).unwrap();
    for (name, from, to, words) in [
        (
            "00bad",
            "\"seq\":3",
            "\"seq\":three",
            "is not an event\n  caused by: ",
        ),
        (
            "00else",
            "\"to\":\"AwaitingConsent\"",
            "\"to\":\"Aborted\"",
            "event 4 does not follow from those before it",
        ),
    ] {
        let lines = journal.lines().take(5);
        let changed: String = lines.map(|line| line.replace(from, to) + "\n").collect();
        let path = log_folder(&conclave).join(format!("consult-{name}.jsonl"));
        std::fs::write(path, changed).unwrap();
        let stderr = rejected(&conclave, &server, &[name]);
        assert!(stderr.contains(words), "{name}: {stderr}");
    }
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
