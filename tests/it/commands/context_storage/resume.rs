//! Resuming takes the text from the file, and is refused without it.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use super::{asked, has_mark, id_of, interrupted, logs, rejected, since};
use crate::commands::resume::stalling_server;
use crate::support::binary::Conclave;
use crate::support::comparable::comparable;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

#[test]
fn link_in_place_of_the_file_is_not_followed() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupted(&conclave, &server, Signal::INT);
    let file = conclave.log("context");
    let elsewhere = conclave.folder().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    let stderr = rejected(&conclave, &server, &["resume"]);
    assert!(stderr.contains("it is a symbolic link"), "{stderr}");
}

#[test]
fn resume_takes_the_text_from_its_file() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    let stderr = interrupted(&conclave, &server, Signal::INT);
    assert!(
        stderr.contains("resume it with `conclave resume "),
        "{stderr}"
    );
    // The source has changed since, and then gone.
    fs::remove_file(conclave.folder().join("notes.md")).unwrap();
    let before = server.requests().len();
    conclave.run(&["resume"]).ends_with(0);
    let requests = since(&server, before);
    assert_eq!(requests.len(), 6);
    assert!(requests.iter().all(has_mark));

    let uninterrupted = ProviderServer::start();
    let whole = asked(&uninterrupted).record();
    assert_eq!(
        comparable(conclave.record())["context"],
        comparable(whole)["context"]
    );
}

#[test]
fn resume_after_any_journal_line_needs_the_file_and_nothing_else() {
    let server = ProviderServer::start();
    let conclave = asked(&server);
    let expected = comparable(conclave.record());
    let id = id_of(&conclave.log("jsonl"));
    let journal = fs::read_to_string(conclave.log("jsonl")).unwrap();
    let text = fs::read(conclave.log("context")).unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    for line_count in (1..=lines.len()).step_by(7) {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        fs::create_dir_all(logs(&conclave)).unwrap();
        let beginning = lines[..line_count].concat();
        fs::write(logs(&conclave).join(format!("{id}.jsonl")), beginning).unwrap();
        fs::write(logs(&conclave).join(format!("{id}.context")), &text).unwrap();
        conclave.run(&["resume", "-q"]).ends_with(0);
        assert_eq!(
            comparable(conclave.record()),
            expected,
            "killed after line {line_count}"
        );
    }
}

#[test]
fn resume_without_the_text_says_why_and_what_to_do() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupted(&conclave, &server, Signal::KILL);
    let (file, id) = (conclave.log("context"), id_of(&conclave.log("jsonl")));
    let text = fs::read_to_string(&file).unwrap();

    fs::remove_file(&file).unwrap();
    let again = format!(
        "hint: put the file back as it was\n\
         hint: ask again with `conclave consult \"…\"` and the same context: notes.md\n\
         hint: see what was answered with `conclave history show {id}`\n"
    );
    let missing = format!(
        "error: cannot resume {id}\n  caused by: the text of its context is missing: there is no \
         `{}`\n{again}",
        file.display()
    );
    assert_eq!(rejected(&conclave, &server, &["resume", "last"]), missing);
    assert_eq!(rejected(&conclave, &server, &["resume"]), missing);

    fs::write(&file, text.replace("gearbox", "glovebox")).unwrap();
    let changed = format!(
        "error: cannot resume {id}\n  caused by: `{}` has changed since the consultation began: \
         its SHA-256 differs\n{again}",
        file.display()
    );
    assert_eq!(rejected(&conclave, &server, &["resume", "last"]), changed);

    fs::write(&file, &text).unwrap();
    conclave.run(&["resume", "last"]).ends_with(0);
}

#[test]
fn run_that_stored_no_text_offers_no_resume() {
    let server = stalling_server();
    let conclave = Conclave::at(&server).variable("CONCLAVE_LOG_CONTEXT", "false");
    let stderr = interrupted(&conclave, &server, Signal::INT);
    assert!(!stderr.contains("conclave resume"), "{stderr}");
    assert_eq!(conclave.record()["resume_token"], Value::Null);
    let listed = conclave.run(&["history", "--json"]).ends_with(0).json();
    assert_eq!(listed["consultations"][0]["resumable"], false);
    let stderr = rejected(&conclave, &server, &["resume", "last"]);
    assert!(
        stderr.contains("was not stored, because `log_context` was off\nhint: ask again with "),
        "{stderr}"
    );
}

#[test]
fn resume_without_an_id_takes_one_whose_text_is_there() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::OpenAi).nth(2), Answer::text("…").stall());
    let conclave = Conclave::at(&server);
    interrupted(&conclave, &server, Signal::INT);
    let older = id_of(&conclave.log("jsonl"));

    let stalling = stalling_server();
    let conclave = stalling
        .variables()
        .into_iter()
        .fold(conclave, |conclave, (name, value)| {
            conclave.variable(name, value)
        })
        .variable("CONCLAVE_LOG_CONTEXT", "false");
    interrupted(&conclave, &stalling, Signal::INT);
    let output = conclave.run(&["resume", "--json"]).ends_with(0);
    assert_eq!(output.json()["consultation_id"], older);
    let logs = fs::read_dir(logs(&conclave)).unwrap();
    let mut journals: Vec<_> = logs
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    journals.sort();
    let passed_over = id_of(journals.last().unwrap());
    let warning = format!(
        "Warning: cannot resume {passed_over}: the text of its context was not stored, because \
         `log_context` was off\n"
    );
    assert!(output.stderr.starts_with(&warning), "{}", output.stderr);
}

#[test]
fn killed_process_leaves_nothing_that_hides() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Before?"]).ends_with(0);
    // Killed between the file and the first event.
    let stem = "consult-01m8000000000000000000000z";
    let [journal, context] =
        ["jsonl", "context"].map(|ending| logs(&conclave).join(format!("{stem}.{ending}")));
    fs::write(&journal, "").unwrap();
    fs::write(&context, "### File: a.rs\n\nfn a() {}\n\n").unwrap();
    let stderr = rejected(&conclave, &server, &["resume", stem]);
    assert!(stderr.contains("has no events"), "{stderr}");
    conclave.run(&["history", "rm", "--yes", stem]).ends_with(0);
    assert!(!journal.exists());
    assert!(!context.exists());
}
