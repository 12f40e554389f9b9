//! Ctrl-C on a real terminal: the first ends the run and saves its answers, the second ends the
//! process at once, whatever it waits for.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::json;

use super::consent_terminal;
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::pty::{Output, Terminal};
use crate::support::timeout::blocking;
use crate::terminal::ended;

const CTRL_C: &str = "\x03";

/// More than any system buffers in a pipe.
const MORE_THAN_A_PIPE_HOLDS: usize = 900_000;

/// Creates a named pipe. A program that opens it to write waits for a reader.
fn make_pipe(path: &Path) {
    let created = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(created.success());
}

/// Opens a pipe as soon as another program has opened it to write.
fn open_beside_the_writer(path: PathBuf) -> File {
    blocking("a program that writes to the pipe", || {
        File::open(path).unwrap()
    })
}

#[test]
fn a_resume_asks_as_the_consultation_does() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid());
    let conclave = consent_terminal(&server).without("CONCLAVE_ALWAYS_ALLOW_UNDER");
    conclave.run(&["consult", "--yes", "Before?"]).ends_with(0);
    let allow = |amount| {
        let set = ["config", "set", "always_allow_under", amount];
        conclave.run(&set).ends_with(0);
    };
    allow("5");
    let before = server.requests().len();
    server.on(On::any(), Answer::text("never to be finished").stall());
    let mut terminal = Terminal::start(&conclave, 100, Output::Pipe, &["consult", "Shall we?"]);
    server.wait_until("all experts are asked", |asked| asked.len() == before + 3);
    terminal.type_in(CTRL_C);
    terminal.end().0.ends_with(130);
    allow("0");
    server.on(On::any(), Answer::valid());
    let mut terminal = Terminal::start(&conclave, 100, Output::Pipe, &["resume"]);
    terminal.wait_for("Go on? [Y/n/a = always below $", 1);
    terminal.type_in("y");
    let screen = ended(terminal, 0);
    let text = screen.text();
    assert!(
        text.contains(" rounds: 3 experts and the judge, with "),
        "{text}"
    );
    assert_eq!(server.requests().len(), before + 3 + 9);
}

#[test]
fn second_ctrl_c_ends_a_run_that_waits_for_the_index() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid());
    let conclave = consent_terminal(&server);
    let arguments = ["consult", "--yes", "Shall we?"];
    conclave.run(&arguments).ends_with(0);
    let asked_before = server.requests().len();
    server.on(On::any(), Answer::text("never to be finished").stall());
    let mut terminal = Terminal::start(&conclave, 80, Output::Pipe, &arguments);
    server.wait_until("all experts are asked", |requests| {
        requests.len() == asked_before + 3
    });
    // Another process that rebuilds the index: writers wait for it.
    let index = Connection::open(conclave.home().join("consult-analytics.db")).unwrap();
    index.execute_batch("BEGIN IMMEDIATE").unwrap();
    terminal.type_in(CTRL_C);
    server.wait_until("the first Ctrl-C has closed all connections", |requests| {
        requests.iter().all(|request| request.finished.is_some())
    });
    terminal.type_in(CTRL_C);
    let (output, screen) = terminal.end();
    assert_eq!(output.ends_with(130).stdout, "");
    assert!(
        !screen.text().contains("error:"),
        "nothing more is done or said: {}",
        screen.text()
    );
    index.execute_batch("ROLLBACK").unwrap();
    server.on(On::any(), Answer::valid());
    let resumed = conclave.run(&["resume", "--yes"]).ends_with(0);
    assert!(
        resumed.stdout.starts_with("# Consultation\n"),
        "the journal is whole: {}",
        resumed.stdout
    );
}

#[test]
fn second_signal_ends_a_process_that_waits_to_write_its_answer() {
    let server = ProviderServer::start();
    let verdict = json!({
        "summary": "They agreed.", "evidence": [], "dissent": [], "confidence": 0.8,
        "recommendation": "Start small, then grow. ".repeat(MORE_THAN_A_PIPE_HOLDS / 24),
    });
    server.on(
        On::asking_for("recommendation"),
        Answer::text(verdict.to_string()),
    );
    let conclave = consent_terminal(&server);
    let pipe = conclave.folder().join("answer");
    make_pipe(&pipe);
    let mut terminal = Terminal::start(
        &conclave,
        80,
        Output::Pipe,
        &["consult", "--yes", "--output", "answer", "Shall we?"],
    );
    // The process has opened the pipe, and waits for a reader of the rest.
    let _unread = open_beside_the_writer(pipe);
    terminal.type_in(CTRL_C);
    // Two of one kind could arrive as one.
    terminal.signal(Signal::TERM);
    let (output, screen) = terminal.end();
    assert_eq!(output.ends_with(130).stdout, "");
    assert!(
        !screen.text().contains("Answer written"),
        "{}",
        screen.text()
    );
    assert_eq!(conclave.record()["status"], "complete");
}
