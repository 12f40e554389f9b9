//! Answers and events in files: written completely or not at all, and never lost.

use std::process::Stdio;

use serde_json::Value;

use super::formats::consult;
use conclave::domain::ids::short_id;

use crate::commands::consult::{ask, assert_published};
use crate::support::binary::{Conclave, RunningProcess};
use crate::support::provider_server::ProviderServer;

#[cfg(target_os = "linux")]
#[test]
fn full_disk_on_standard_output_is_a_failure_that_names_the_saved_answer() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let mut command = conclave.command();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    command
        .args(["consult", "-q", "Shall we?"])
        .stdin(Stdio::null())
        .stdout(full)
        .stderr(Stdio::piped());
    let output = RunningProcess::of(command.spawn().unwrap())
        .wait()
        .ends_with(1);
    let record = conclave.log("json");
    let id = short_id(record.file_stem().unwrap().to_str().unwrap());
    assert_eq!(
        output.stderr,
        format!(
            "error: cannot write the result to standard output\n  \
             caused by: No space left on device (os error 28)\n\
             hint: the answer is saved: `conclave history show {id}`\n"
        )
    );
}

#[test]
fn name_of_the_output_file_gives_its_format() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let written = |arguments: &[&str], file: &str| {
        conclave
            .run(&[&["consult", "-n", "Shall we?", "-o", file], arguments].concat())
            .ends_with(0);
        std::fs::read_to_string(conclave.folder().join(file)).unwrap()
    };
    let page = written(&[], "a.html");
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    let report = written(&["--format", "md"], "b.json");
    assert!(report.starts_with("# Consultation\n"), "{report}");
}

#[test]
fn output_file_gets_the_whole_answer() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let answer = conclave.folder().join("answer.json");
    std::fs::write(&answer, "what was there before").unwrap();
    let arguments = ["consult", "-o", "answer.json", "Shall we?"];
    let output = conclave.run(&arguments).ends_with(0);
    assert_eq!(output.stdout, "");
    assert!(
        output.stderr.ends_with("Answer written to answer.json\n"),
        "{}",
        output.stderr
    );
    assert_published(&serde_json::from_str(&std::fs::read_to_string(&answer).unwrap()).unwrap());
    let mut beside: Vec<_> = std::fs::read_dir(conclave.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    beside.sort();
    assert_eq!(beside, ["answer.json", "home"], "no temporary file remains");
}

#[test]
fn events_are_lines_of_json_without_gaps() {
    let (conclave, output) = consult(&["--events", "events.jsonl"]);
    let file = std::fs::read_to_string(conclave.folder().join("events.jsonl")).unwrap();
    assert_envelopes(&file);
    assert_eq!(
        file,
        std::fs::read_to_string(conclave.log("jsonl")).unwrap(),
        "the journal has the same lines"
    );
    assert!(output.stderr.contains("✨ Consultation complete"));

    let (_, output) = consult(&["--events", "-", "-q"]);
    assert_envelopes(&output.stderr);
    let (_, output) = consult(&["--events", "-"]);
    let lines = output.stderr.lines();
    let events: Vec<&str> = lines.filter(|line| line.starts_with('{')).collect();
    assert_envelopes(&events.join("\n"));
    // The progress is also shown.
    output.assert_stderr_contains("✨ Consultation complete");
}

fn assert_envelopes(lines: &str) {
    let events: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.first().unwrap()["type"], "consultation:started");
    assert_eq!(events.last().unwrap()["type"], "consultation:completed");
    for (seq, event) in (1..).zip(&events) {
        assert_eq!(event["seq"], Value::from(seq));
        assert_eq!(event["schema_version"], "1.0");
        assert_eq!(event["consultation_id"], events[0]["consultation_id"]);
        assert!(event["at"].as_str().unwrap().ends_with('Z'));
        assert!(event["data"].is_object());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn unwritable_answer_goes_to_standard_output() {
    let server = ProviderServer::start();
    let (_, output) = ask(&server, &["-o", "/dev/full", "--json"]);
    let output = output.ends_with(1);
    assert_published(&output.json());
    output.assert_stderr_contains(
        "\nAnswer on standard output instead\nerror: the disk is full: cannot write `/dev/full`\n  \
         caused by: ",
    );
}

#[cfg(target_os = "linux")]
#[test]
fn unwritable_events_are_reported_once() {
    let (conclave, output) = consult(&["--events", "/dev/full", "-q"]);
    assert!(output.stdout.starts_with("# Consultation\n"));
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    assert!(
        output.stderr.contains("/dev/full") || output.stderr.contains("events"),
        "{}",
        output.stderr
    );
    assert_eq!(conclave.record()["status"], "complete");
}

#[test]
fn output_file_can_be_a_link_or_a_device() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let (real, link) = (
        conclave.folder().join("real.md"),
        conclave.folder().join("link.md"),
    );
    std::fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert_eq!(
        conclave
            .run(&["consult", "-n", "-q", "-o", "link.md", "Shall we?"])
            .ends_with(0)
            .stdout,
        ""
    );
    assert!(
        std::fs::read_to_string(&real)
            .unwrap()
            .starts_with("# Consultation\n")
    );
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    conclave
        .run(&["consult", "-n", "-q", "-o", "/dev/null", "Shall we?"])
        .ends_with(0);
}
