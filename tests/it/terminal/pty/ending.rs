//! The end of a run on a real terminal: the summary, the whole report, and the pager.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::pty::{Output, Terminal, Transcript};

use super::consent_terminal;

/// Runs on a terminal of 80 columns and 30 rows and returns what was written.
fn run(conclave: &Conclave, arguments: &[&str]) -> Transcript {
    let terminal = Terminal::start_sized(conclave, (80, 30), Output::Terminal, arguments);
    let (ran, transcript) = terminal.end();
    ran.ends_with(0);
    transcript
}

/// Returns the lines from the answer's heading on.
fn ending(transcript: &Transcript) -> Vec<String> {
    let history = transcript.screen().history();
    let lines = history.lines().skip_while(|line| *line != "Answer");
    lines.map(str::to_owned).collect()
}

/// Writes what it is given into a file, as a pager that shows nothing.
const TO_FILE: &str = "cat > paged.txt";

fn paged(conclave: &Conclave) -> Option<String> {
    std::fs::read_to_string(conclave.folder().join("paged.txt")).ok()
}

#[test]
fn run_ends_with_a_summary_of_at_most_twenty_lines() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let transcript = run(&conclave, &["consult", "--yes", "Shall we?"]);
    let lines = ending(&transcript);
    assert!(lines.len() <= 20, "{lines:#?}");
    assert_eq!(lines[1], "Start small, then grow.");
    for row in [
        "Confidence  80%",
        "Dissent     ",
        "Changes     ",
        "Cost        $",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(row)), "{lines:#?}");
    }
    let commands = lines.iter().filter(|line| line.starts_with("conclave "));
    assert_eq!(commands.count(), 3, "{lines:#?}");
    let id = conclave.record()["consultation_id"].to_string();
    let saved_as = format!("Saved as    {}", id.trim_matches('"'));
    assert!(lines.contains(&saved_as), "{saved_as}: {lines:#?}");
}

#[test]
fn run_that_is_not_saved_points_to_no_command() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let transcript = run(&conclave, &["consult", "--yes", "-n", "Shall we?"]);
    let lines = ending(&transcript);
    assert!(!lines.is_empty());
    let is_pointer = |line: &&String| line.contains("conclave ") || line.contains("Saved as");
    assert_eq!(lines.iter().find(is_pointer), None);
}

#[test]
fn full_prints_the_whole_report() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let transcript = run(&conclave, &["consult", "--yes", "--full", "Shall we?"]);
    let text = transcript.text();
    for heading in ["Answer\n──", "Positions\n──", "Changes\n──", "Cost\n──"] {
        assert!(text.contains(heading), "{heading}: {text}");
    }
}

#[test]
fn file_gets_the_whole_report_and_the_terminal_its_name() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let transcript = run(&conclave, &["consult", "--yes", "-o", "a.md", "Shall we?"]);
    let file = std::fs::read_to_string(conclave.folder().join("a.md")).unwrap();
    assert!(file.contains("\n## Positions\n"), "{file}");
    assert_eq!(ending(&transcript), [""; 0]);
}

#[test]
fn whole_report_goes_through_the_pager() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server).variable("PAGER", TO_FILE);
    let transcript = run(&conclave, &["consult", "--yes", "--full", "Shall we?"]);
    assert_eq!(ending(&transcript), [""; 0]);
    assert!(paged(&conclave).unwrap().contains("Positions"));
    std::fs::remove_file(conclave.folder().join("paged.txt")).unwrap();
    run(&conclave, &["history", "show", "last"]);
    assert!(paged(&conclave).unwrap().contains("Positions"));
}

#[test]
fn pager_is_left_out_where_it_is_not_wanted() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server).variable("PAGER", TO_FILE);
    conclave
        .run(&["consult", "--yes", "Shall we?"])
        .ends_with(0);
    let direct = run(&conclave, &["history", "show", "last", "--no-pager"]);
    assert!(direct.text().contains("Positions\n──"), "{}", direct.text());
    let piped = conclave.run(&["history", "show", "last"]).ends_with(0);
    assert!(piped.stdout.contains("## Positions"), "{}", piped.stdout);
    let short = run(&conclave, &["history", "show", "last", "--round", "4"]);
    assert!(short.text().contains("Round 4"), "{}", short.text());
    let empty = conclave.variable("PAGER", "");
    let direct = run(&empty, &["history", "show", "last"]);
    assert!(direct.text().contains("Positions\n──"), "{}", direct.text());
    assert_eq!(paged(&empty), None);
}

#[test]
fn default_pager_is_left_out_on_a_dumb_terminal() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server)
        .without("PAGER")
        .without("LESS")
        .variable("TERM", "dumb");
    conclave
        .run(&["consult", "--yes", "Shall we?"])
        .ends_with(0);
    let less = conclave.folder().join("bin/less");
    std::fs::create_dir(less.parent().unwrap()).unwrap();
    std::fs::write(&less, format!("#!/bin/sh\n{TO_FILE}\n")).unwrap();
    std::fs::set_permissions(&less, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", less.parent().unwrap().display());
    let conclave = conclave.variable("PATH", path);
    let direct = run(&conclave, &["history", "show", "last"]);
    assert!(direct.text().contains("Positions\n──"), "{}", direct.text());
    assert_eq!(paged(&conclave), None);
    let conclave = conclave.variable("TERM", "xterm");
    run(&conclave, &["history", "show", "last"]);
    assert!(paged(&conclave).unwrap().contains("Positions"));
}

#[test]
fn text_is_printed_directly_when_the_pager_cannot_start() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server).variable("PAGER", "/no/such/pager");
    conclave
        .run(&["consult", "--yes", "Shall we?"])
        .ends_with(0);
    let direct = run(&conclave, &["history", "show", "last"]);
    assert!(direct.text().contains("Positions\n──"), "{}", direct.text());
}

#[test]
fn pager_that_is_closed_early_is_no_error() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server).variable("PAGER", "head -n 1");
    conclave
        .run(&["consult", "--yes", "Shall we?"])
        .ends_with(0);
    let transcript = run(&conclave, &["history", "show", "last"]);
    assert!(
        !transcript.text().contains("error"),
        "{}",
        transcript.text()
    );
    assert!(
        !transcript.text().contains("Positions"),
        "{}",
        transcript.text()
    );
}

#[test]
fn ctrl_c_in_the_pager_does_not_end_the_program_first() {
    let server = ProviderServer::start();
    let script =
        "trap 'echo interrupted; exit 0' INT; echo ready; while :; do read -t 1 x </dev/tty; done";
    let conclave =
        consent_terminal(&server).variable("PAGER", format!("exec /bin/bash -c \"{script}\""));
    conclave
        .run(&["consult", "--yes", "Shall we?"])
        .ends_with(0);
    let mut terminal = Terminal::start_sized(
        &conclave,
        (80, 30),
        Output::Terminal,
        &["history", "show", "last"],
    );
    terminal.wait_for("ready", 1);
    terminal.type_in("\x03");
    let (ran, transcript) = terminal.end();
    ran.ends_with(0);
    assert!(
        transcript.text().contains("interrupted"),
        "{}",
        transcript.text()
    );
}

#[test]
fn second_ctrl_c_in_the_pager_waits_for_its_end() {
    let server = ProviderServer::start();
    // `bash` loses an interrupt that comes while it still runs the trap of the last one, so the
    // trap only counts, and the word that the test waits for comes after it.
    let script = "trap ': \\$((count++))' INT; echo ready; \
                  for times in 1 2 3; do \
                  while [ \\$((count)) -lt \\$times ]; do read -t 1 x </dev/tty; done; \
                  echo interrupted; done; echo restored";
    let conclave =
        consent_terminal(&server).variable("PAGER", format!("exec /bin/bash -c \"{script}\""));
    let arguments = ["consult", "--yes", "--full", "Shall we?"];
    let mut terminal = Terminal::start_sized(&conclave, (80, 30), Output::Terminal, &arguments);
    terminal.wait_for("ready", 1);
    for times in 1..=3 {
        terminal.type_in("\x03");
        terminal.wait_for("interrupted", times);
    }
    let (ran, transcript) = terminal.end();
    ran.ends_with(0);
    assert!(
        transcript.text().contains("restored"),
        "{}",
        transcript.text()
    );
}

#[test]
fn judged_again_ends_with_what_changed() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    conclave
        .run(&["consult", "--yes", "Shall we?"])
        .ends_with(0);
    let terminal = Terminal::start_sized(
        &conclave,
        (80, 30),
        Output::Terminal,
        &["history", "rejudge", "last", "--yes"],
    );
    let (ran, transcript) = terminal.end();
    ran.ends_with(0);
    let history = transcript.screen().history();
    // No expert answers again.
    assert!(!history.contains("Round 1 complete"), "{history}");
    assert!(
        history.contains("\n📋 Round 1 taken over from consult-"),
        "{history}"
    );
    assert!(history.contains("\n📋 Round 4 complete\n"), "{history}");
    let (_, summary) = history.split_once("Answer now\n").unwrap();
    assert!(summary.lines().count() <= 20, "{summary}");
    for row in ["\nVerdict     ", "\nJudge       ", "\nCost        "] {
        assert!(summary.contains(row), "{row}: {summary}");
    }
}

#[test]
fn failed_run_ends_with_what_it_found() {
    let server = ProviderServer::start();
    let refused = Answer::error(400, "invalid_request_error", "not today");
    server.on(On::asking_for("recommendation"), refused);
    let conclave = consent_terminal(&server);
    let terminal = Terminal::start_sized(
        &conclave,
        (80, 40),
        Output::Terminal,
        &["consult", "--yes", "--on-failure", "fail", "Shall we?"],
    );
    let (ran, transcript) = terminal.end();
    assert_ne!(ran.code, Some(0));
    let history = transcript.screen().history();
    let (_, summary) = history.split_once("🛑 Aborted").unwrap();
    assert!(summary.contains("No verdict was reached."), "{summary}");
    assert!(
        summary.contains("\n  conclave history show last"),
        "{summary}"
    );
    assert!(summary.contains("\nerror: "), "{summary}");
}

#[test]
fn end_is_notified_on_a_terminal_when_asked_for() {
    let notification = "\u{7}\u{1b}]9;conclave: answer ready\u{7}";
    let server = ProviderServer::start();
    let terminal = |arguments: &[&str]| {
        let conclave = Conclave::at(&server)
            .variable("TERM", "xterm-256color")
            .variable("CI", "1");
        let arguments = [&["consult", "Shall we?"], arguments].concat();
        let terminal = Terminal::start(&conclave, 80, Output::Terminal, &arguments);
        let (output, transcript) = terminal.end();
        assert_eq!(output.code, Some(0), "{}", transcript.text());
        transcript.written().matches(notification).count()
    };
    assert_eq!(terminal(&["--yes", "--notify"]), 1);
    assert_eq!(terminal(&["--yes"]), 0);
    let conclave = Conclave::at(&server).config(r#"{"notify": "on"}"#);
    let piped = conclave.run(&["consult", "Shall we?", "--notify"]);
    assert!(!piped.ends_with(0).stderr.contains('\u{7}'));
}
