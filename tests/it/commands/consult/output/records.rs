//! Saved files: their permissions and contents, and runs that cannot save them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use conclave::consultation::event::{CallEvent, Event};
use conclave::consultation::transcript::Transcript;
use conclave::records::journal::read_journal;
use rustix::process::Signal;

use crate::commands::consult::ask;
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::record_json;

const NOT_SAVED: &str = "Failed to write consultation log: ";

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn journal_record_and_markdown_are_private() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let logs = conclave.home().join("consult-logs");
    assert_eq!(mode(&conclave.home()), 0o700);
    assert_eq!(mode(&logs), 0o700);
    let mut files: Vec<_> = std::fs::read_dir(&logs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert_eq!(
        files,
        [
            conclave.log("json"),
            conclave.log("jsonl"),
            conclave.log("md")
        ]
    );
    for file in &files {
        assert_eq!(mode(file), 0o600, "{}", file.display());
        assert!(
            file.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("consult-")
        );
    }
    let home = std::fs::read_dir(conclave.home())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let (mut beside, folders): (Vec<_>, Vec<_>) = home.partition(|path| path.is_file());
    beside.sort();
    assert_eq!(folders, [logs]);
    let is_of_the_index = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("consult-analytics.")
    };
    assert!(
        beside.iter().all(is_of_the_index),
        "the home has no other files: {beside:?}"
    );
    assert!(conclave.home().join("consult-analytics.db").is_file());
    for file in &beside {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
}

#[test]
fn record_equals_the_output_and_the_folded_journal() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&["consult", "--format", "both", "Shall we?"])
        .ends_with(0);
    let saved = |ending| std::fs::read_to_string(conclave.log(ending)).unwrap();
    assert_eq!(
        output.stdout,
        format!("{}\n\n---\n{}", saved("md").trim_end(), saved("json"))
    );
    let journal = read_journal(&conclave.log("jsonl")).unwrap();
    assert_eq!(
        record_json(&Transcript::fold(&journal).unwrap()),
        conclave.record()
    );
}

#[test]
fn no_log_leaves_no_trace() {
    let (conclave, output) = ask(&ProviderServer::start(), &["--no-log"]);
    assert!(output.ends_with(0).stdout.starts_with("# Consultation\n"));
    assert!(!conclave.home().exists());
}

#[test]
fn concurrent_consultations_have_separate_files() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let running: Vec<_> = ["one?", "two?"]
        .into_iter()
        .map(|question| conclave.start(&["consult", question]))
        .collect();
    for run in running {
        run.wait().ends_with(0);
    }
    assert_eq!(
        std::fs::read_dir(conclave.home().join("consult-logs"))
            .unwrap()
            .count(),
        6
    );
}

#[test]
fn home_is_found_by_both_variables_and_the_user_home() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).without("CONCLAVE_HOME");
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert!(
        conclave
            .folder()
            .join("user/.llm-conclave/consult-logs")
            .is_dir()
    );
    let other = conclave.folder().join("other");
    let conclave = conclave.variable("LLM_CONCLAVE_HOME", other.clone());
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert!(other.join("consult-logs").is_dir());
}

#[cfg(target_os = "linux")]
#[test]
fn failure_to_create_the_home_still_prints_the_answer() {
    let server = ProviderServer::start();
    // Not even root can create a folder there.
    let output = Conclave::at(&server)
        .variable("CONCLAVE_HOME", "/proc/home")
        .run(&["consult", "-q", "Shall we?"])
        .ends_with(0);
    assert!(output.stdout.starts_with("# Consultation\n"));
    assert!(
        output
            .stderr
            .starts_with("Failed to write consultation log: cannot write `/proc/home`: "),
        "{}",
        output.stderr
    );
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
}

#[test]
fn home_that_is_a_file_is_rejected_before_any_request() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    std::fs::write(conclave.home(), "").unwrap();
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(2);
    output.assert_stderr_contains("Not a directory");
    assert!(server.requests().is_empty());
}

#[test]
fn log_folder_that_is_a_file_is_reported_once() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config("{}");
    std::fs::write(conclave.home().join("consult-logs"), "").unwrap();
    let output = conclave.run(&["consult", "--json", "Shall we?"]);
    let output = output.ends_with(0);
    assert_eq!(output.json()["state"], "Complete");
    assert_eq!(
        output.stderr.matches(NOT_SAVED).count(),
        1,
        "{}",
        output.stderr
    );
}

#[test]
fn full_disk_is_reported_once_and_the_answer_is_printed() {
    let server = ProviderServer::start();
    // Files are limited to a few kilobytes, so that the journal fails during the run.
    let output = Conclave::at(&server)
        .run_limited("-f 8", "consult --yes 'Shall we?'")
        .ends_with(0);
    assert!(output.stdout.starts_with("# Consultation\n"));
    assert_eq!(
        output.stderr.matches(NOT_SAVED).count(),
        1,
        "{}",
        output.stderr
    );
}

#[test]
fn calls_are_journaled_before_they_go_out() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("never to be finished").stall());
    let conclave = Conclave::at(&server);
    let running = conclave.start(&["consult", "Shall we?"]);
    server.wait_until("all experts have been asked", |requests| {
        requests.len() == 3
    });
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    let journal = read_journal(&conclave.log("jsonl")).unwrap();
    let started = journal
        .iter()
        .filter(|envelope| matches!(envelope.event, Event::Call(CallEvent::Started(_))))
        .count();
    assert_eq!(started, 3);
    assert_eq!(
        record_json(&Transcript::fold(&journal).unwrap())["status"],
        "incomplete"
    );
}
