//! Output on a real terminal: the live display, the judge's text and the rendered answer.

use std::time::Duration;

use super::consent_terminal;
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};

#[test]
fn a_pipe_gets_the_judges_text_as_plain_text() {
    let server = ProviderServer::start();
    let ran = Conclave::at(&server)
        .run(&["consult", "--stream", "-n", "Shall we?"])
        .ends_with(0);
    for mark in ["recommendation", "consensus_points", "\""] {
        assert!(!ran.stderr.contains(mark), "{mark}: {}", ran.stderr);
    }
    assert_eq!(
        ran.stderr.matches("⚖️ Judge (gpt-6.1-sol):\n   ").count(),
        3,
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("\n   Answer\n   ") && !ran.stderr.contains('{'),
        "{}",
        ran.stderr
    );
    assert!(
        !Conclave::at(&server)
            .run(&["consult", "-n", "Shall we?"])
            .ends_with(0)
            .stderr
            .contains('⚖')
    );
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
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    let text = screen.text();
    assert!(text.contains("⚖️ Judge (gpt-6.1-sol):"), "{text}");
    assert!(text.contains("\n   Answer\n   "), "{text}");
    assert_eq!(screen.too_wide(80), Vec::<String>::new());
}

#[test]
fn the_live_display_fits_the_terminal() {
    for columns in [60, 120] {
        let server = ProviderServer::start();
        // Slow enough for some frames, and with something long to say.
        server.on(
            On::any(),
            Answer::text("{\"position\": \"ein Wort nach dem anderen\"}")
                .pieces(6)
                .pace(Duration::from_millis(12)),
        );
        let words = "this is not the day on which we could answer you: ".repeat(4);
        server.on(
            On::vendor(Vendor::Google),
            Answer::http(400, "text/plain", words),
        );
        let conclave = consent_terminal(&server);
        let question = "Should a team of four with three customers rewrite its scheduler, which works, in another language?";
        let arguments = [
            "consult",
            "--yes",
            "--verbose",
            "-n",
            "--on-failure",
            "skip",
            question,
        ];
        let terminal = Terminal::start(&conclave, columns, Output::Terminal, &arguments);
        let (ran, screen) = terminal.end();
        ran.ends_with(0);
        assert!(screen.has_escape_codes(), "the display is live");
        assert_eq!(
            screen.too_wide(usize::from(columns)),
            Vec::<String>::new(),
            "{columns} columns"
        );
        for line in [
            "Security Expert",
            "Agent Pragmatist failed",
            "📋 Round 4 complete",
            "✨ Consultation complete",
            "Answer",
        ] {
            assert!(screen.text().contains(line), "{line}: {}", screen.text());
        }
    }
}

#[test]
fn a_dumb_terminal_gets_no_escape_codes() {
    for (name, value) in [("TERM", "dumb"), ("NO_COLOR", "1")] {
        let server = ProviderServer::start();
        let conclave = consent_terminal(&server).variable(name, value);
        let terminal = Terminal::start(
            &conclave,
            80,
            Output::Terminal,
            &["consult", "--yes", "Shall we?"],
        );
        let (ran, screen) = terminal.end();
        ran.ends_with(0);
        assert!(!screen.has_colours(), "{name}: {:?}", screen.text());
        if name == "TERM" {
            assert!(
                !screen.has_escape_codes(),
                "nothing is redrawn: {:?}",
                screen.text()
            );
            assert!(
                screen
                    .text()
                    .contains("⚡ Asking Security Expert (claude-sonnet-5-5)\n"),
                "{}",
                screen.text()
            );
        }
    }
}

#[test]
fn a_terminal_gets_the_answer_rendered() {
    let server = ProviderServer::start();
    let terminal = Terminal::start(
        &consent_terminal(&server),
        80,
        Output::Terminal,
        &["consult", "--yes", "-q", "Shall we?"],
    );
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    assert!(
        screen.text().contains("Start small, then grow.") && !screen.text().contains("# "),
        "{}",
        screen.text()
    );
    assert!(screen.has_colours());
}
