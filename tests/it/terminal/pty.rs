//! The binary on a real terminal: the question of the gate, Ctrl-C, the live display, and terminals that want no escape codes.

use std::ffi::OsStr;
use std::time::Duration;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};

const QUESTION: &str = "Proceed? [Y/n] ";

/// A terminal with colours, on which every consultation must be agreed to.
fn asking(server: &ProviderServer) -> Conclave {
    Conclave::at(server).without("NO_COLOR").variable("TERM", "xterm-256color").variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0")
}

fn at_the_gate(server: &ProviderServer) -> (Conclave, Terminal) {
    let conclave = asking(server);
    let terminal = Terminal::start(&conclave, 100, Output::Pipe, &["consult", "Shall we?"]);
    terminal.wait_for(QUESTION, 1);
    assert!(server.requests().is_empty(), "nothing is asked before consent");
    (conclave, terminal)
}

#[test]
fn an_empty_line_agrees_to_the_cost() {
    let server = ProviderServer::start();
    let (conclave, mut terminal) = at_the_gate(&server);
    terminal.type_in("\n");
    let (ran, screen) = terminal.end();
    let ran = ran.ends_with(0);
    assert!(ran.stdout.starts_with("# Consultation Summary\n"), "a pipe gets the source: {}", ran.stdout);
    assert!(screen.text().contains("Estimated cost: $0.") && screen.text().contains("- 3 agents × 4 rounds\n"), "{}", screen.text());
    assert_eq!((server.requests().len(), &conclave.record()["consent"]["how"]), (9, &"asked".into()));
}

#[test]
fn no_ends_it_before_anything_is_spent() {
    let server = ProviderServer::start();
    let (conclave, mut terminal) = at_the_gate(&server);
    terminal.type_in("n\n");
    let (ran, screen) = terminal.end();
    assert_eq!(ran.ends_with(3).stdout, "");
    assert!(screen.text().contains("error: Consultation cancelled by user\n"), "{}", screen.text());
    assert!(!screen.text().contains("--yes"), "who was asked needs no hint: {}", screen.text());
    assert!(server.requests().is_empty());
    assert_eq!(conclave.record()["abort_reason"], "declined");
}

#[test]
fn nonsense_is_asked_about_until_it_is_an_answer() {
    let server = ProviderServer::start();
    let (_conclave, mut terminal) = at_the_gate(&server);
    terminal.type_in("maybe\n");
    terminal.wait_for("Please answer y or n: ", 1);
    terminal.type_in("2\n");
    terminal.wait_for("Please answer y or n: ", 2);
    terminal.type_in("YES\n");
    terminal.end().0.ends_with(0);
    assert_eq!(server.requests().len(), 9);
}

#[test]
fn the_end_of_the_input_is_a_no() {
    let server = ProviderServer::start();
    let (_conclave, mut terminal) = at_the_gate(&server);
    terminal.type_in("\x04");
    terminal.end().0.ends_with(3);
    assert!(server.requests().is_empty());
}

#[test]
fn ctrl_c_at_the_question_ends_it() {
    let server = ProviderServer::start();
    let (conclave, mut terminal) = at_the_gate(&server);
    terminal.type_in("\x03");
    let (ran, screen) = terminal.end();
    assert_eq!(ran.ends_with(130).stdout, "");
    assert!(screen.text().ends_with("\nerror: Consultation interrupted\n"), "{}", screen.text());
    assert!(server.requests().is_empty());
    assert_eq!(conclave.record()["abort_reason"], "interrupted");
}

#[test]
fn ctrl_c_while_models_answer_ends_it() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("never to be finished").stall());
    let conclave = asking(&server);
    let mut terminal = Terminal::start(&conclave, 80, Output::Pipe, &["consult", "--yes", "Shall we?"]);
    terminal.wait_for("Security Expert", 2);
    server.wait_until("everyone is asked", |asked| asked.len() == 3);
    terminal.type_in("\x03");
    let (ran, screen) = terminal.end();
    ran.ends_with(130);
    assert!(screen.text().ends_with("error: Consultation interrupted\n"), "{}", screen.text());
    server.wait_until("all connections are closed", |asked| asked.iter().all(|request| request.finished.is_some()));
}

#[test]
fn a_question_from_a_pipe_is_never_taken_for_the_answer_at_the_gate() {
    let server = ProviderServer::start();
    let conclave = asking(&server);
    let script = format!("printf 'y\\ny\\n' | {} consult -", env!("CARGO_BIN_EXE_conclave"));
    let mut terminal = Terminal::start_program(&conclave, 100, Output::Pipe, OsStr::new("/bin/sh"), &["-c", &script]);
    terminal.wait_for(QUESTION, 1);
    terminal.type_in("n\n");
    terminal.end().0.ends_with(3);
    assert!(server.requests().is_empty());
}

#[test]
fn without_a_terminal_on_standard_error_nobody_is_asked() {
    let server = ProviderServer::start();
    let conclave = asking(&server);
    let script = format!("{} consult q 2>error", env!("CARGO_BIN_EXE_conclave"));
    let terminal = Terminal::start_program(&conclave, 100, Output::Pipe, OsStr::new("/bin/sh"), &["-c", &script]);
    let (ran, screen) = terminal.end();
    ran.ends_with(3);
    assert_eq!(screen.text(), "");
    assert!(std::fs::read_to_string(conclave.folder().join("error")).unwrap().contains("agree to it with --yes"));
}

#[test]
fn the_live_display_is_never_wider_than_the_terminal() {
    for columns in [60, 120] {
        let server = ProviderServer::start();
        // Slow enough for some frames, and with something long to say.
        server.on(On::any(), Answer::text("{\"position\": \"ein Wort nach dem anderen\"}").pieces(6).pace(Duration::from_millis(12)));
        let words = "this is not the day on which we could answer you: ".repeat(4);
        server.on(On::vendor(Vendor::Google), Answer::http(400, "text/plain", words));
        let conclave = asking(&server);
        let question = "Should a team of four with three customers rewrite its scheduler, which works, in another language?";
        let arguments = ["consult", "--yes", "--verbose", "-n", "--on-failure", "skip", question];
        let terminal = Terminal::start(&conclave, columns, Output::Terminal, &arguments);
        let (ran, screen) = terminal.end();
        ran.ends_with(0);
        assert!(screen.has_escape_codes(), "it is alive");
        assert_eq!(screen.too_wide(usize::from(columns)), Vec::<String>::new(), "{columns} columns");
        for said in ["Security Expert", "Agent Pragmatist failed", "📋 Round 4 complete", "✨ Consultation complete", "Consensus"] {
            assert!(screen.text().contains(said), "{said}: {}", screen.text());
        }
    }
}

#[test]
fn a_terminal_that_wants_no_escape_codes_gets_none() {
    for (name, value) in [("TERM", "dumb"), ("NO_COLOR", "1")] {
        let server = ProviderServer::start();
        let conclave = asking(&server).variable(name, value);
        let terminal = Terminal::start(&conclave, 80, Output::Terminal, &["consult", "--yes", "Shall we?"]);
        let (ran, screen) = terminal.end();
        ran.ends_with(0);
        assert!(!screen.has_colours(), "{name}: {:?}", screen.text());
        if name == "TERM" {
            assert!(!screen.has_escape_codes(), "nothing is redrawn: {:?}", screen.text());
            assert!(screen.text().contains("⚡ Security Expert thinking...\n"), "{}", screen.text());
        }
    }
}

#[test]
fn a_terminal_gets_the_answer_rendered() {
    let server = ProviderServer::start();
    let terminal = Terminal::start(&asking(&server), 80, Output::Terminal, &["consult", "--yes", "-q", "Shall we?"]);
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    assert!(screen.text().contains("Consultation Summary") && !screen.text().contains("# Consultation Summary"), "{}", screen.text());
    assert!(screen.has_colours());
}
