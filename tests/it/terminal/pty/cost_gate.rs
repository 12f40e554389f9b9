//! The cost gate on a real terminal: answers, saved amounts, Ctrl-C and piped input.

use std::ffi::OsStr;

use super::consent_terminal;
use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal};
use crate::support::question_screens::at_every_width;

const QUESTION: &str = "Go on? [Y/n/a = always below $";
const AMOUNT: &str = "Do not ask below, in dollars: ";

fn at_the_gate(server: &ProviderServer) -> (Conclave, Terminal) {
    let conclave = consent_terminal(server);
    let terminal = Terminal::start(&conclave, 100, Output::Pipe, &["consult", "Shall we?"]);
    terminal.wait_for(QUESTION, 1);
    assert!(server.requests().is_empty(), "no call before consent");
    (conclave, terminal)
}

#[test]
fn enter_accepts_the_cost() {
    let server = ProviderServer::start();
    let (conclave, mut terminal) = at_the_gate(&server);
    terminal.type_in("\n");
    let (ran, screen) = terminal.end();
    let ran = ran.ends_with(0);
    assert!(
        ran.stdout.starts_with("# Consultation\n"),
        "a pipe gets the source: {}",
        ran.stdout
    );
    assert!(
        screen.text().contains("About $0.")
            && screen
                .text()
                .contains("9 calls in 4 rounds: 3 experts and the judge, with "),
        "{}",
        screen.text()
    );
    assert_eq!(server.requests().len(), 9);
    assert_eq!(conclave.record()["consent"]["how"], "asked");
}

#[test]
fn no_ends_the_run_before_any_spending() {
    let server = ProviderServer::start();
    let (conclave, mut terminal) = at_the_gate(&server);
    terminal.type_in("n");
    let (ran, screen) = terminal.end();
    assert_eq!(ran.ends_with(3).stdout, "");
    assert!(
        screen
            .text()
            .contains("error: Consultation cancelled by user; nothing was spent\n"),
        "{}",
        screen.text()
    );
    assert!(
        !screen.text().contains("--yes"),
        "the hint is for runs without a question: {}",
        screen.text()
    );
    assert!(server.requests().is_empty());
    assert_eq!(conclave.record()["abort_reason"], "declined");
    let list = conclave.run(&["history", "--json"]).ends_with(0).json();
    assert_eq!(list["consultations"][0]["status"], "declined", "{list}");
    let statistics = conclave
        .run(&["consult-stats", "--json"])
        .ends_with(0)
        .json();
    let states = &statistics["usage"]["by_state"];
    assert_eq!(states["declined"], 1, "{statistics}");
    assert_eq!(states["aborted"], 0, "{statistics}");
    assert_eq!(statistics["usage"]["total"], 0, "{statistics}");
}

#[test]
fn keys_without_a_meaning_are_explained_once() {
    let server = ProviderServer::start();
    let (_conclave, mut terminal) = at_the_gate(&server);
    terminal.type_in("m");
    terminal.wait_for(
        "Press one of these keys: y = yes, n = no, a = always below $",
        1,
    );
    terminal.type_in("2\x1b[A\x1bOBY");
    let (ran, transcript) = terminal.end();
    ran.ends_with(0);
    let history = transcript.screen().history();
    assert!(!history.contains("^["), "{history}");
    assert_eq!(server.requests().len(), 9);
}

#[test]
fn end_of_input_is_a_no() {
    let server = ProviderServer::start();
    let (_conclave, mut terminal) = at_the_gate(&server);
    terminal.type_in("\x04");
    terminal.end().0.ends_with(3);
    assert!(server.requests().is_empty());
}

/// A terminal whose settings, not a variable, require consent to every consultation.
fn always_asking(server: &ProviderServer) -> Conclave {
    Conclave::at(server)
        .variable("TERM", "xterm-256color")
        .config("{\n  \"judge\": \"openai:gpt-6.1-sol\",\n  \"alwaysAllowUnder\": 0\n}\n")
}

fn settings(conclave: &Conclave) -> String {
    std::fs::read_to_string(conclave.home().join("config.json")).unwrap()
}

#[test]
fn always_saves_the_amount_for_the_next_consultation() {
    let server = ProviderServer::start();
    let conclave = always_asking(&server);
    let mut terminal = Terminal::start(
        &conclave,
        200,
        Output::Pipe,
        &["consult", "-n", "Shall we?"],
    );
    terminal.wait_for(QUESTION, 1);
    terminal.type_in("a");
    terminal.wait_for(AMOUNT, 1);
    assert!(
        server.requests().is_empty(),
        "no call before the amount is known"
    );
    terminal.type_in("much\n");
    terminal.wait_for("Please enter an amount in dollars, such as 0.50", 1);
    terminal.type_in("7.50\n");
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    let saved = format!(
        "Consultations under $7.50 will be auto-approved (saved in {})\n",
        conclave.home().join("config.json").display()
    );
    assert!(screen.text().contains(&saved), "{}", screen.text());
    assert_eq!(
        settings(&conclave),
        "{\n  \"judge\": \"openai:gpt-6.1-sol\",\n  \"alwaysAllowUnder\": 7.5\n}\n",
        "the rest stays as it was"
    );

    let (ran, screen) = Terminal::start(
        &conclave,
        100,
        Output::Pipe,
        &["consult", "-n", "Shall we?"],
    )
    .end();
    ran.ends_with(0);
    assert!(
        screen.text().contains(" (auto-approved)\n") && !screen.text().contains("Go on?"),
        "{}",
        screen.text()
    );
    assert_eq!(server.requests().len(), 18);
}

#[test]
fn enter_takes_the_suggested_amount() {
    let server = ProviderServer::start();
    let conclave = always_asking(&server);
    let mut terminal = Terminal::start(
        &conclave,
        100,
        Output::Pipe,
        &["consult", "-n", "Shall we?"],
    );
    terminal.wait_for(QUESTION, 1);
    terminal.type_in("a");
    terminal.wait_for(AMOUNT, 1);
    terminal.type_in("\n");
    terminal.end().0.ends_with(0);
    conclave.run(&["consult", "-n", "Shall we?"]).ends_with(0);
}

#[test]
fn an_amount_of_zero_asks_every_time() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server)
        .variable("TERM", "xterm-256color")
        .config("{\"always_allow_under\": 0.01}");
    let mut terminal = Terminal::start(
        &conclave,
        200,
        Output::Pipe,
        &["consult", "-n", "Shall we?"],
    );
    terminal.wait_for(QUESTION, 1);
    terminal.type_in("a");
    terminal.wait_for(AMOUNT, 1);
    terminal.type_in("\x7f\x7f\x7f\x7f0\n");
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    assert!(
        screen
            .text()
            .contains("You will be asked about every consultation (saved in "),
        "{}",
        screen.text()
    );
    assert_eq!(settings(&conclave), "{\"always_allow_under\": 0}");

    let mut terminal = Terminal::start(
        &conclave,
        100,
        Output::Pipe,
        &["consult", "-n", "Shall we?"],
    );
    terminal.wait_for(QUESTION, 1);
    terminal.type_in("n");
    terminal.end().0.ends_with(3);
    assert_eq!(server.requests().len(), 9);
}

#[test]
fn an_unsaved_amount_approves_only_this_consultation() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server)
        .variable("TERM", "xterm-256color")
        .config("{\"always_allow_under\": 0}");
    let mut terminal = Terminal::start(
        &conclave,
        200,
        Output::Pipe,
        &["consult", "-n", "Shall we?"],
    );
    terminal.wait_for(QUESTION, 1);
    // Another program leaves the file in pieces.
    std::fs::write(conclave.home().join("config.json"), "{\"always_allow").unwrap();
    terminal.type_in("a");
    terminal.wait_for(AMOUNT, 1);
    terminal.type_in("\x7f\x7f\x7f\x7f2\n");
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    assert!(
        screen.text().contains("⚠️ The amount could not be saved: ")
            && screen.text().contains("not JSON"),
        "{}",
        screen.text()
    );
    assert_eq!(settings(&conclave).as_str(), "{\"always_allow");
    assert_eq!(server.requests().len(), 9);
}

#[test]
fn a_variable_that_overrides_the_saved_amount_is_named() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let mut terminal = Terminal::start(
        &conclave,
        200,
        Output::Pipe,
        &["consult", "-n", "Shall we?"],
    );
    terminal.wait_for(QUESTION, 1);
    terminal.type_in("a");
    terminal.wait_for(AMOUNT, 1);
    terminal.type_in("\x7f\x7f\x7f\x7f2\n");
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    let warning = "CONCLAVE_ALWAYS_ALLOW_UNDER is set in the environment and overrides the file";
    assert!(screen.text().contains(warning), "{}", screen.text());
    assert!(settings(&conclave).contains("\"always_allow_under\": 2"));
}

#[test]
fn input_typed_before_the_question_is_discarded() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    // The shell holds the terminal until the line is there.
    let script = format!(
        "echo ready; until read -t 0; do :; done; exec {} consult -n 'Shall we?'",
        env!("CARGO_BIN_EXE_conclave")
    );
    let mut terminal = Terminal::start_program(
        &conclave,
        100,
        Output::Terminal,
        OsStr::new("/bin/bash"),
        &["-c", &script],
    );
    terminal.wait_for("ready", 1);
    terminal.type_in("y\n");
    terminal.wait_for(QUESTION, 1);
    assert!(server.requests().is_empty());
    terminal.type_in("n");
    terminal.end().0.ends_with(3);
    assert!(server.requests().is_empty());
}

#[test]
fn ctrl_c_at_the_cost_gate_ends_the_run() {
    let server = ProviderServer::start();
    let (conclave, mut terminal) = at_the_gate(&server);
    assert!(!terminal.echoes());
    terminal.type_in("\x03");
    let (ran, screen) = terminal.end();
    assert_eq!(ran.ends_with(130).stdout, "");
    assert!(screen.screen().is_cursor_visible());
    assert!(screen.modes().contains("ECHO"), "{}", screen.modes());
    assert!(
        screen
            .screen()
            .history()
            .ends_with("error: Consultation interrupted"),
        "{}",
        screen.screen().history()
    );
    assert!(server.requests().is_empty());
    assert_eq!(conclave.record()["abort_reason"], "interrupted");
}

/// Runs a script of the shell, in which `$0` is the binary, until it asks.
fn shell_at_the_gate(conclave: &Conclave, script: &str) -> Terminal {
    let arguments = ["-c", script, env!("CARGO_BIN_EXE_conclave")];
    let shell = OsStr::new("/bin/sh");
    let terminal = Terminal::start_program(conclave, 100, Output::Pipe, shell, &arguments);
    terminal.wait_for(QUESTION, 1);
    terminal
}

#[test]
fn a_piped_question_does_not_answer_the_cost_gate() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let mut terminal = shell_at_the_gate(&conclave, r"printf 'y\ny\n' | $0 consult -");
    terminal.type_in("n");
    terminal.end().0.ends_with(3);
    assert!(server.requests().is_empty());
}

#[test]
fn piped_context_leaves_the_cost_gate_to_the_terminal() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    std::fs::write(conclave.folder().join("problem.md"), "n\nn\n").unwrap();
    let script = "cat problem.md | $0 consult --format json 'Analyze this'";
    let mut terminal = shell_at_the_gate(&conclave, script);
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
    let script = format!("{} consult q 2>error", env!("CARGO_BIN_EXE_conclave"));
    let terminal = Terminal::start_program(
        &conclave,
        100,
        Output::Pipe,
        OsStr::new("/bin/sh"),
        &["-c", &script],
    );
    let (ran, screen) = terminal.end();
    ran.ends_with(3);
    assert_eq!(screen.text(), "");
    assert!(
        std::fs::read_to_string(conclave.folder().join("error"))
            .unwrap()
            .contains("agree to it with `--yes`")
    );
}

/// A terminal on which nothing says what may be spent.
fn at_the_first_cost(server: &ProviderServer) -> (Conclave, Terminal) {
    let conclave = Conclave::at(server).variable("TERM", "xterm-256color");
    let terminal = consult_on(&conclave);
    terminal.wait_for(QUESTION, 1);
    (conclave, terminal)
}

fn consult_on(conclave: &Conclave) -> Terminal {
    Terminal::start(conclave, 100, Output::Pipe, &["consult", "Shall we?"])
}

#[test]
fn the_first_cost_is_asked_about_once() {
    let server = ProviderServer::start();
    let (conclave, mut terminal) = at_the_first_cost(&server);
    terminal.type_in("y");
    terminal.end().0.ends_with(0);
    assert_eq!(conclave.record()["consent"]["how"], "asked");
    let (ran, screen) = consult_on(&conclave).end();
    ran.ends_with(0);
    assert!(!screen.text().contains("Go on?"), "{}", screen.text());
    assert!(
        screen.text().contains(" (auto-approved)\n"),
        "{}",
        screen.text()
    );
}

#[test]
fn a_declined_first_cost_is_asked_about_again() {
    let server = ProviderServer::start();
    let (conclave, mut terminal) = at_the_first_cost(&server);
    terminal.type_in("\x1b");
    terminal.end().0.ends_with(3);
    assert_eq!(conclave.record()["status"], "declined");
    let mut terminal = consult_on(&conclave);
    terminal.wait_for(QUESTION, 1);
    terminal.type_in("n");
    terminal.end().0.ends_with(3);
    assert!(server.requests().is_empty());
}

#[test]
fn the_first_cost_is_not_asked_about_after_a_paid_run_or_with_a_threshold() {
    let server = ProviderServer::start();
    let paid = Conclave::at(&server).variable("TERM", "xterm-256color");
    paid.run(&["consult", "Shall we?"]).ends_with(0);
    // The records say as much as the index.
    for file in ["consult-analytics.db", "consult-analytics.db-wal"] {
        let _ = std::fs::remove_file(paid.home().join(file));
    }
    let with_threshold = Conclave::at(&server)
        .variable("TERM", "xterm-256color")
        .config(r#"{"always_allow_under": 0.5}"#);
    for conclave in [paid, with_threshold] {
        let (ran, screen) = consult_on(&conclave).end();
        ran.ends_with(0);
        assert!(!screen.text().contains("Go on?"), "{}", screen.text());
    }
}

#[test]
fn the_cost_gate_fits_every_width() {
    let shown = at_every_width("9 calls", |columns, paint| {
        let server = ProviderServer::start();
        let conclave = paint
            .apply(Conclave::at(&server))
            .config("{\"always_allow_under\": 0.01}");
        let terminal = Terminal::start(&conclave, columns, Output::Pipe, &["consult", "Shall we?"]);
        ((server, conclave), terminal)
    });
    insta::assert_snapshot!(shown);
}

#[test]
fn the_first_cost_question_fits_every_width() {
    let shown = at_every_width("9 calls", |columns, paint| {
        let server = ProviderServer::start();
        let conclave = paint.apply(Conclave::at(&server));
        let terminal = Terminal::start(&conclave, columns, Output::Pipe, &["consult", "Shall we?"]);
        ((server, conclave), terminal)
    });
    insta::assert_snapshot!(shown);
}
