//! The end of a run on a real terminal: the summary, the whole report, and the pager.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use conclave::domain::ids::short_id;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::pty::{Output, Terminal, Transcript};
use crate::terminal::ended;

use super::consent_terminal;

/// Runs on a terminal of 80 columns and 30 rows and returns what was written.
fn run(conclave: &Conclave, arguments: &[&str]) -> Transcript {
    let terminal = Terminal::start_sized(conclave, (80, 30), Output::Terminal, arguments);
    ended(terminal, 0)
}

fn answer_a_question(conclave: &Conclave) {
    let arguments = ["consult", "--yes", "Shall we?"];
    conclave.run(&arguments).ends_with(0);
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
    let id = conclave.record()["consultation_id"]
        .as_str()
        .unwrap()
        .to_owned();
    for row in [
        "Confidence  80%",
        "Dissent     ",
        "Cost        $",
        &format!("Saved as    {}", short_id(&id)),
    ] {
        assert!(lines.iter().any(|line| line.starts_with(row)), "{lines:#?}");
    }
    let commands = lines.iter().filter(|line| line.starts_with("conclave "));
    assert_eq!(commands.count(), 3, "{lines:#?}");
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
    answer_a_question(&conclave);
    let direct = run(&conclave, &["history", "show", "last", "--no-pager"]);
    assert!(direct.text().contains("Positions\n──"), "{}", direct.text());
    let piped = conclave.run(&["history", "show", "last"]).ends_with(0);
    assert!(piped.stdout.contains("## Positions"), "{}", piped.stdout);
    let short = run(&conclave, &["history", "show", "last", "--round", "4"]);
    assert!(short.text().contains("Round 4"), "{}", short.text());
    let mut conclave = conclave;
    for off_or_missing in ["", "/no/such/pager"] {
        conclave = conclave.variable("PAGER", off_or_missing);
        let direct = run(&conclave, &["history", "show", "last"]);
        assert!(direct.text().contains("Positions\n──"), "{}", direct.text());
    }
    assert_eq!(paged(&conclave), None);
}

#[test]
fn default_pager_is_left_out_on_a_dumb_terminal() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server)
        .without("PAGER")
        .without("LESS")
        .variable("TERM", "dumb");
    answer_a_question(&conclave);
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
fn ctrl_c_in_the_pager_does_not_end_the_program_first() {
    let server = ProviderServer::start();
    let script = "trap 'echo interrupted; exit 0' INT; echo ready; while :; do read -t 0.1 x </dev/tty; done";
    let conclave =
        consent_terminal(&server).variable("PAGER", format!("exec /bin/bash -c \"{script}\""));
    answer_a_question(&conclave);
    let mut terminal = Terminal::start_sized(
        &conclave,
        (80, 30),
        Output::Terminal,
        &["history", "show", "last"],
    );
    terminal.wait_for("ready", 1);
    terminal.type_in("\x03");
    let transcript = ended(terminal, 0);
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
                  while [ \\$((count)) -lt \\$times ]; do read -t 0.1 x </dev/tty; done; \
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
    let transcript = ended(terminal, 0);
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
    answer_a_question(&conclave);
    let transcript = run(&conclave, &["history", "rejudge", "last", "--yes"]);
    let history = transcript.screen().history();
    // No expert answers again.
    assert!(!history.contains("Round 1 complete"), "{history}");
    for line in [
        "\n📋 Round 1 taken over from consult-",
        "\n📋 Round 4 complete\n",
    ] {
        assert!(history.contains(line), "{line}: {history}");
    }
    let (_, summary) = history.split_once("Answer now\n").unwrap();
    assert!(summary.lines().count() <= 20, "{summary}");
    for row in ["\nVerdict     ", "\nJudge       ", "\nCost        "] {
        assert!(summary.contains(row), "{row}: {summary}");
    }
}

#[test]
fn failed_run_ends_with_what_it_found() {
    let server = ProviderServer::start();
    let rejected = Answer::error(400, "invalid_request_error", "not today");
    server.on(On::asking_for("recommendation"), rejected);
    let conclave = consent_terminal(&server);
    let arguments = ["consult", "--yes", "--on-failure", "fail", "Shall we?"];
    let terminal = Terminal::start_sized(&conclave, (80, 40), Output::Terminal, &arguments);
    let (ran, transcript) = terminal.end();
    assert_ne!(ran.code, Some(0));
    let history = transcript.screen().history();
    let (_, summary) = history.split_once("🛑 Aborted").unwrap();
    for line in [
        "provisional, by the judge after Round 3",
        "\n  conclave history show last",
        "\nerror: ",
    ] {
        assert!(summary.contains(line), "{line}: {summary}");
    }
}

#[test]
fn end_is_notified_on_a_terminal_when_asked_for() {
    let notification = "\u{7}\u{1b}]9;conclave: answer ready\u{7}";
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("TERM", "xterm-256color");
    let notified = |arguments: &[&str]| {
        let arguments = [&["consult", "Shall we?"], arguments].concat();
        let transcript = run(&conclave, &arguments);
        transcript.written().matches(notification).count()
    };
    assert_eq!(notified(&["--yes", "--notify"]), 1);
    assert_eq!(notified(&["--yes"]), 0);
    let conclave = conclave.config(r#"{"notify": "on"}"#);
    let piped = conclave.run(&["consult", "Shall we?", "--notify"]);
    assert!(!piped.ends_with(0).stderr.contains('\u{7}'));
}
