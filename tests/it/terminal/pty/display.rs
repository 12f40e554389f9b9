//! The judge's text beside the live display, in a pipe, and on a dumb terminal.

use super::consent_terminal;
use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal};
use crate::terminal::ended;

#[test]
fn a_pipe_gets_the_judges_text_as_plain_text() {
    let server = ProviderServer::start();
    let stderr_of = |arguments: &[&str]| {
        let arguments = [&["consult", "-n", "Shall we?"], arguments].concat();
        Conclave::at(&server).run(&arguments).ends_with(0).stderr
    };
    let stderr = stderr_of(&["--stream"]);
    for mark in ["recommendation", "consensus_points", "\"", "{"] {
        assert!(!stderr.contains(mark), "{mark}: {stderr}");
    }
    let judge = "⚖️ Judge (gpt-6.1-sol):\n   ";
    assert_eq!(stderr.matches(judge).count(), 3, "{stderr}");
    assert!(stderr.contains("\n   Answer\n   "), "{stderr}");
    assert!(!stderr_of(&[]).contains('⚖'));
}

#[test]
fn the_judges_text_appears_above_the_live_display() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let terminal = Terminal::start(
        &conclave,
        80,
        Output::Pipe,
        &["consult", "--yes", "--stream", "-n", "Shall we?"],
    );
    let screen = ended(terminal, 0);
    let text = screen.text();
    assert!(text.contains("⚖️ Judge (gpt-6.1-sol):"), "{text}");
    assert!(text.contains("\n   Answer\n   "), "{text}");
    assert_eq!(screen.too_wide(80), Vec::<String>::new());
}

#[test]
fn everything_on_a_terminal_without_utf_8_is_ascii() {
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server).variable("LC_ALL", "C");
    let arguments = ["consult", "Shall we?"];
    let mut terminal = Terminal::start(&conclave, 80, Output::Terminal, &arguments);
    terminal.wait_for("[Y/n", 1);
    terminal.type_in("y");
    let screen = ended(terminal, 0);
    assert!(screen.text().is_ascii(), "{}", screen.text());
    for arguments in [
        &["history"][..],
        &["history", "show", "--full"],
        &["stats"],
        &["doctor"],
    ] {
        let terminal = Terminal::start(&conclave, 80, Output::Terminal, arguments);
        let text = terminal.end().1.text();
        assert!(text.is_ascii(), "{arguments:?}: {text}");
    }
}

#[test]
fn a_dumb_terminal_gets_no_escape_codes() {
    let server = ProviderServer::start();
    let run = |name, value| {
        let conclave = consent_terminal(&server).variable(name, value);
        let arguments = ["consult", "--yes", "Shall we?"];
        let screen = ended(
            Terminal::start(&conclave, 80, Output::Terminal, &arguments),
            0,
        );
        assert!(!screen.has_colours(), "{name}: {:?}", screen.text());
        screen
    };
    run("NO_COLOR", "1");
    let dumb = run("TERM", "dumb");
    let text = dumb.text();
    assert!(!dumb.has_escape_codes(), "nothing is redrawn: {text:?}");
    let line = "⚡ Security Expert thinking... (claude-sonnet-5-5)\n";
    assert!(text.contains(line), "{text}");
}
