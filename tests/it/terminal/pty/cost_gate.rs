//! The cost gate on a real terminal: answers, saved amounts, Ctrl-C and piped input. What it says
//! for which reason is tested beside the question.

use std::ffi::OsStr;

use super::consent_terminal;
use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal};
use crate::support::sample_screens::question_on_both;
use crate::terminal::ended;

const QUESTION: &str = "Go on? [Y/n/a = always below $";

fn consult_on(conclave: &Conclave) -> Terminal {
    Terminal::start(conclave, 200, Output::Pipe, &["consult", "Shall we?"])
}

fn asking(conclave: &Conclave) -> Terminal {
    let terminal = consult_on(conclave);
    terminal.wait_for(QUESTION, 1);
    terminal
}

/// A terminal whose settings, not a variable, decide whether it is asked.
fn with_settings(server: &ProviderServer, config: &str) -> Conclave {
    Conclave::at(server)
        .variable("TERM", "xterm-256color")
        .config(config)
}

fn settings(conclave: &Conclave) -> String {
    std::fs::read_to_string(conclave.home().join("config.json")).unwrap()
}

fn assert_is_not_asked(conclave: &Conclave) {
    let (ran, screen) = consult_on(conclave).end();
    ran.ends_with(0);
    let text = screen.text();
    assert!(text.contains(" (auto-approved)\n"), "{text}");
    assert!(!text.contains("Go on?"), "{text}");
}

#[test]
fn enter_accepts_the_cost() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let mut terminal = asking(&conclave);
    assert!(server.requests().is_empty(), "no call before consent");
    terminal.type_in("\n");
    let ran = terminal.end().0.ends_with(0);
    assert!(
        ran.stdout.starts_with("# Consultation\n"),
        "a pipe gets the source: {}",
        ran.stdout
    );
    assert_eq!(server.requests().len(), 9);
    assert_eq!(conclave.record()["consent"]["how"], "asked");
}

#[test]
fn no_and_the_end_of_input_end_the_run_before_any_spending() {
    for typed in ["n", "\x04"] {
        let server = ProviderServer::start();
        let conclave = consent_terminal(&server);
        let mut terminal = asking(&conclave);
        terminal.type_in(typed);
        let (ran, screen) = terminal.end();
        assert_eq!(ran.ends_with(3).stdout, "");
        let text = screen.text();
        let ending = "Consultation cancelled by user; nothing was spent\n";
        assert!(text.contains(ending), "{text}");
        assert!(!text.contains("error:"), "{text}");
        assert!(!text.contains("--yes"), "the hint is for scripts: {text}");
        assert!(server.requests().is_empty());
        assert_eq!(conclave.record()["abort_reason"], "declined");
        let list = conclave
            .run(&["history", "--all", "--json"])
            .ends_with(0)
            .json();
        assert_eq!(list["consultations"][0]["status"], "declined", "{list}");
        let figures = conclave.run(&["consult-stats", "--json"]).json();
        let usage = &figures["usage"];
        assert_eq!(usage["by_state"]["declined"], 1, "{figures}");
        assert_eq!(usage["by_state"]["aborted"], 0, "{figures}");
        assert_eq!(usage["total"], 0, "{figures}");
    }
}

#[test]
fn no_letter_of_a_typed_word_answers() {
    let server = ProviderServer::start();
    let ceiling = ["consult", "Shall we?", "--max-cost", "0.30"];
    let mut terminal = Terminal::start(&consent_terminal(&server), 200, Output::Pipe, &ceiling);
    terminal.wait_for("at most $0.30 (your ceiling). Go on? [Y/n/a = always", 1);
    for typed in ["maybe", "maybe\n"] {
        terminal.type_in(typed);
        terminal.wait_for("Press one of these keys: y = yes", 1);
    }
    terminal.type_in("no\n");
    terminal.end().0.ends_with(3);
    assert!(server.requests().is_empty());
}

/// Takes over a terminal with the question and asks for the amount.
fn asking_for_an_amount(mut terminal: Terminal) -> Terminal {
    terminal.type_in("a");
    terminal.wait_for("Do not ask below, in dollars: ", 1);
    terminal
}

fn text_at_the_end(terminal: Terminal) -> String {
    let screen = ended(terminal, 0);
    screen.text()
}

#[test]
fn always_saves_the_amount_for_the_next_consultation() {
    let server = ProviderServer::start();
    let judged = "{\n  \"judge\": \"openai:gpt-6.1-sol\",\n  \"alwaysAllowUnder\": 0\n}\n";
    let conclave = with_settings(&server, judged);
    let mut terminal = asking_for_an_amount(asking(&conclave));
    terminal.type_in("much\n");
    terminal.wait_for("Please enter an amount in dollars, such as 0.50", 1);
    terminal.type_in("7.50\n");
    let text = text_at_the_end(terminal);
    let saved = format!(
        "Consultations under $7.50 will be auto-approved (saved in {})\n",
        conclave.home().join("config.json").display()
    );
    assert!(text.contains(&saved), "{text}");
    assert_eq!(
        settings(&conclave),
        "{\n  \"judge\": \"openai:gpt-6.1-sol\",\n  \"alwaysAllowUnder\": 7.5\n}\n",
        "the rest stays as it was"
    );
    assert_is_not_asked(&conclave);
    assert_eq!(server.requests().len(), 18);

    let by_enter = with_settings(&server, r#"{"always_allow_under": 0}"#);
    let mut terminal = asking_for_an_amount(asking(&by_enter));
    terminal.type_in("\n");
    text_at_the_end(terminal);
    assert_is_not_asked(&by_enter);
}

#[test]
fn an_unsaved_amount_approves_only_this_consultation() {
    let server = ProviderServer::start();
    let conclave = with_settings(&server, r#"{"always_allow_under": 0}"#);
    let terminal = asking(&conclave);
    // Another program leaves the file in pieces.
    std::fs::write(conclave.home().join("config.json"), "{\"always_allow").unwrap();
    let mut terminal = asking_for_an_amount(terminal);
    terminal.type_in("\x7f\x7f\x7f\x7f2\n");
    let text = text_at_the_end(terminal);
    assert!(
        text.contains("⚠️ The amount could not be saved: ") && text.contains("not JSON"),
        "{text}"
    );
    assert_eq!(settings(&conclave), "{\"always_allow");
    assert_eq!(server.requests().len(), 9);
}

#[test]
fn a_variable_that_overrides_the_saved_amount_is_named() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let mut terminal = asking_for_an_amount(asking(&conclave));
    terminal.type_in("\x7f\x7f\x7f\x7f2\n");
    let text = text_at_the_end(terminal);
    let warning = "CONCLAVE_ALWAYS_ALLOW_UNDER is set in the environment and overrides the file";
    assert!(text.contains(warning), "{text}");
    assert!(settings(&conclave).contains("\"always_allow_under\": 2"));
}

/// Runs a script in which `$0` is the binary.
fn shell(conclave: &Conclave, output: Output, shell: &str, script: &str) -> Terminal {
    let arguments = ["-c", script, env!("CARGO_BIN_EXE_conclave")];
    Terminal::start_program(conclave, 100, output, OsStr::new(shell), &arguments)
}

#[test]
fn input_typed_before_the_question_is_discarded() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    // The shell holds the terminal until the line is there.
    let script = "echo ready; until read -t 0; do :; done; exec $0 consult -n 'Shall we?'";
    let mut terminal = shell(&conclave, Output::Terminal, "/bin/bash", script);
    terminal.wait_for("ready", 1);
    terminal.type_in("y\n");
    terminal.wait_for(QUESTION, 1);
    terminal.type_in("n");
    terminal.end().0.ends_with(3);
    assert!(server.requests().is_empty());
}

#[test]
fn ctrl_c_at_the_cost_gate_ends_the_run() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let mut terminal = asking(&conclave);
    assert!(!terminal.echoes());
    terminal.type_in("\x03");
    let (ran, screen) = terminal.end();
    assert_eq!(ran.ends_with(130).stdout, "");
    assert!(screen.screen().is_cursor_visible());
    assert!(screen.modes().contains("ECHO"), "{}", screen.modes());
    let history = screen.screen().history();
    assert!(history.ends_with("\nConsultation interrupted"), "{history}");
    assert!(server.requests().is_empty());
    assert_eq!(conclave.record()["abort_reason"], "interrupted");
}

#[test]
fn piped_text_does_not_answer_the_cost_gate() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let as_question = r"printf 'y\ny\n' | $0 consult -";
    let mut terminal = shell(&conclave, Output::Pipe, "/bin/sh", as_question);
    terminal.wait_for(QUESTION, 1);
    terminal.type_in("n");
    terminal.end().0.ends_with(3);
    assert!(server.requests().is_empty());

    let as_context = r"printf 'n\nn\n' | $0 consult --format json 'Analyze this'";
    let mut terminal = shell(&conclave, Output::Pipe, "/bin/sh", as_context);
    terminal.wait_for(QUESTION, 1);
    assert!(server.requests().is_empty());
    terminal.type_in("y");
    let (ran, screen) = terminal.end();
    let answer = ran.ends_with(0).json();
    assert!(answer["confidence"].as_f64().is_some(), "{answer}");
    assert!(screen.has_restored_modes());
}

#[test]
fn text_typed_on_a_terminal_is_context_by_the_name_of_a_dash() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let arguments = ["consult", "--yes", "-f", "-", "Analyze this"];
    let mut terminal = Terminal::start(&conclave, 100, Output::Pipe, &arguments);
    terminal.wait_for("Type the context, end with Ctrl-D", 1);
    terminal.type_in("typed\n\x04");
    terminal.end().0.ends_with(0);
    let journal = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
    assert!(journal.contains(r#""kind":"stdin","name":"stdin","bytes":6"#));
}

#[test]
fn no_question_is_asked_without_a_terminal_on_stderr() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let terminal = shell(&conclave, Output::Pipe, "/bin/sh", "$0 consult q 2>error");
    let screen = ended(terminal, 3);
    assert_eq!(screen.text(), "");
    let error = std::fs::read_to_string(conclave.folder().join("error")).unwrap();
    assert!(error.contains("agree to it with `--yes`"), "{error}");
}

#[test]
fn the_first_cost_is_asked_about_until_it_is_accepted() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("TERM", "xterm-256color");
    let mut terminal = asking(&conclave);
    terminal.type_in("\x1b");
    terminal.end().0.ends_with(3);
    assert_eq!(conclave.record()["status"], "declined");
    let mut terminal = asking(&conclave);
    assert!(server.requests().is_empty());
    terminal.type_in("y");
    terminal.end().0.ends_with(0);
    assert_is_not_asked(&conclave);
}

#[test]
fn the_first_cost_is_not_asked_about_after_a_paid_run() {
    let server = ProviderServer::start();
    let paid = Conclave::at(&server).variable("TERM", "xterm-256color");
    paid.run(&["consult", "Shall we?"]).ends_with(0);
    // The records say as much as the index.
    for file in ["consult-analytics.db", "consult-analytics.db-wal"] {
        let _ = std::fs::remove_file(paid.home().join(file));
    }
    assert_is_not_asked(&paid);
}

#[test]
fn the_first_cost_question_fits_the_terminal() {
    let shown = question_on_both("9 calls", |columns, colours| {
        let server = ProviderServer::start();
        let conclave = colours.apply(Conclave::at(&server));
        let terminal = Terminal::start(&conclave, columns, Output::Pipe, &["consult", "Shall we?"]);
        ((server, conclave), terminal)
    });
    insta::assert_snapshot!(shown);
}
