//! What is kept in the home, for whose eyes, and what happens when nothing can be kept.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use conclave::consultation::event::{CallEvent, Event};
use conclave::consultation::transcript::Transcript;
use conclave::records::journal::read_journal;
use conclave::records::record::record;
use rustix::process::Signal;

use crate::support::binary::{Conclave, RunningProcess};
use crate::support::provider_server::{Answer, On, ProviderServer};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn journal_record_and_markdown_are_kept_for_the_user_alone() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let logs = conclave.home().join("consult-logs");
    assert_eq!((mode(&conclave.home()), mode(&logs)), (0o700, 0o700));
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
        "nothing else is made in the home: {beside:?}"
    );
    assert!(conclave.home().join("consult-analytics.db").is_file());
    for file in &beside {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
}

#[test]
fn the_record_is_what_was_printed_and_what_the_journal_tells() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let ran = conclave
        .run(&["consult", "--format", "both", "Shall we?"])
        .ends_with(0);
    let kept = |ending| std::fs::read_to_string(conclave.log(ending)).unwrap();
    assert_eq!(
        ran.stdout,
        format!("{}\n\n---\n{}", kept("md").trim_end(), kept("json"))
    );
    let journal = read_journal(&conclave.log("jsonl")).unwrap();
    assert_eq!(journal.torn_bytes, 0);
    assert_eq!(
        record(&Transcript::fold(&journal.events).unwrap()),
        conclave.record()
    );
}

#[test]
fn a_consultation_that_is_not_to_be_kept_leaves_no_trace() {
    for flag in ["-n", "--no-log"] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let ran = conclave.run(&["consult", flag, "Shall we?"]).ends_with(0);
        assert!(ran.stdout.starts_with("# Consultation Summary\n"));
        assert!(!conclave.home().exists());
    }
}

#[test]
fn two_consultations_have_files_of_their_own() {
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
fn the_homes_of_both_variables_and_of_the_user_are_found() {
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
fn a_home_that_cannot_be_made_is_told_once_and_the_answer_is_printed() {
    let server = ProviderServer::start();
    // Nobody, not even root, can make a folder there.
    let ran = Conclave::at(&server)
        .variable("CONCLAVE_HOME", "/proc/home")
        .run(&["consult", "-q", "Shall we?"])
        .ends_with(0);
    assert!(ran.stdout.starts_with("# Consultation Summary\n"));
    assert!(
        ran.stderr
            .starts_with("Failed to write consultation log: cannot write `/proc/home`: "),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn a_home_that_is_a_file_is_refused_before_anything_is_spent() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    std::fs::write(conclave.home(), "").unwrap();
    let ran = conclave.run(&["consult", "Shall we?"]).ends_with(2);
    assert!(ran.stderr.contains("Not a directory"), "{}", ran.stderr);
    assert!(server.requests().is_empty());
}

#[test]
fn a_folder_of_logs_that_is_a_file_is_told_once_and_the_answer_is_printed() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config("{}");
    std::fs::write(conclave.home().join("consult-logs"), "").unwrap();
    let ran = conclave
        .run(&["consult", "--format", "json", "Shall we?"])
        .ends_with(0);
    assert_eq!(ran.json()["state"], "Complete");
    assert_eq!(
        ran.stderr
            .matches("Failed to write consultation log: ")
            .count(),
        1,
        "{}",
        ran.stderr
    );
}

#[test]
fn a_disk_that_fills_up_is_told_and_the_answer_is_printed() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    // No file may grow beyond a few kilobytes: the journal fails on the way.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" consult 'Shall we?'";
    let mut command = std::process::Command::new("/bin/sh");
    command
        .args(["-c", script, env!("CARGO_BIN_EXE_conclave")])
        .env_clear()
        .envs(conclave.variables());
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let ran = RunningProcess::of(command.spawn().unwrap()).wait();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
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

#[test]
fn a_call_is_in_the_journal_before_it_goes_out_and_a_killed_process_loses_nothing() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("never to be finished").stall());
    let conclave = Conclave::at(&server);
    let running = conclave.start(&["consult", "Shall we?"]);
    server.wait_until("everyone is asked", |asked| asked.len() == 3);
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    let journal = read_journal(&conclave.log("jsonl")).unwrap();
    let started = journal
        .events
        .iter()
        .filter(|envelope| matches!(envelope.event, Event::Call(CallEvent::Started { .. })))
        .count();
    assert_eq!((journal.torn_bytes, started), (0, 3));
    assert_eq!(
        record(&Transcript::fold(&journal.events).unwrap())["status"],
        "incomplete"
    );
}
