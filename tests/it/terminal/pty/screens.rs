//! What a person sees on a narrow terminal without colours and on a wide one with them.

use super::consent_terminal;
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::sample_screens::{Colours, on_both};
use crate::support::steady_text::steady;
use crate::terminal::ended;

const POSITION: &str = r#"{"position": "Use OAuth 2.1 with PKCE.", "key_points": ["Revocation."], "rationale": "A signed token cannot be revoked.", "confidence": 0.82}"#;

const LONG_POSITION: &str = r#"{"position": "Use **OAuth 2.1** with PKCE; JWT only as the access-token format, never as a session. Rotate refresh tokens on every use.", "key_points": ["Revocation."], "rationale": "A signed token cannot be revoked.", "confidence": 0.82}"#;

const VERDICT: &str = r#"{"summary": "They agree.", "evidence": [], "dissent": [{"agent": "@security", "concern": "Opaque tokens need a lookup on every request, which the gateway has no cache for.", "severity": "medium"}], "recommendation": "Use **OAuth 2.1** with PKCE and opaque tokens:\n\n1. Put a cache in front of the lookup.\n2. Rotate refresh tokens on every use, and revoke the family when one is used twice.", "confidence": 0.78}"#;

/// Runs to the end and returns the screen then. Nothing is wider than the terminal.
fn at_the_end(conclave: Conclave, columns: u16, colours: Colours, code: i32) -> String {
    let conclave = conclave.config(r#"{"always_allow_under": 90}"#);
    let arguments = ["consult", "Shall we?"];
    let terminal = Terminal::start_sized(&conclave, (columns, 60), Output::Terminal, &arguments);
    let transcript = ended(terminal, code);
    assert_eq!(transcript.too_wide(columns.into()), Vec::<String>::new());
    steady(&colours.look(transcript.screen()))
}

#[test]
fn request_for_a_question_fits_the_terminal() {
    let server = ProviderServer::start();
    let seen = on_both(|columns, colours| {
        let conclave = colours.apply(Conclave::at(&server));
        let arguments = ["consult", "-", "--yes", "--quick", "-q"];
        let mut terminal = Terminal::start(&conclave, columns, Output::Pipe, &arguments);
        terminal.wait_for_sight("end with Ctrl-D");
        terminal.type_in("Should we\nuse X?");
        terminal.wait_for_sight("use X?");
        let seen = terminal.look(|screen| colours.look(screen));
        terminal.type_in("\n\x04");
        terminal.end().0.ends_with(0);
        seen
    });
    insta::assert_snapshot!(seen);
}

#[test]
fn end_of_a_run_fits_the_terminal() {
    let seen = on_both(|columns, colours| {
        let server = ProviderServer::start();
        let first = On::asking_for("position").and_vendor(Vendor::Anthropic);
        server.on(first, Answer::text(POSITION));
        let verdict = Answer::text(VERDICT).labelled(&[("@security", "Use OAuth 2.1")]);
        server.on(On::asking_for("summary"), verdict);
        let conclave = colours.apply(Conclave::at(&server));
        let screen = at_the_end(conclave, columns, colours, 0);
        let (_, seen) = screen.split_once("Round 3 complete").unwrap();
        seen.trim_start_matches("{/}").trim_start().to_owned()
    });
    insta::assert_snapshot!(seen);
}

#[test]
fn refused_keys_fit_the_terminal() {
    let seen = on_both(|columns, colours| {
        let server = ProviderServer::start();
        let refused = || Answer::error(401, "authentication_error", "invalid x-api-key");
        server.on(On::any(), refused());
        let conclave = colours.apply(Conclave::at(&server));
        at_the_end(conclave, columns, colours, 1)
    });
    insta::assert_snapshot!(seen);
}

#[test]
fn missing_network_fits_the_terminal() {
    let seen = on_both(|columns, colours| {
        let server = ProviderServer::start();
        let mut conclave = colours.apply(Conclave::at(&server));
        // Nothing listens at the discard port.
        for (variable, _) in server.variables() {
            if variable.ends_with("_URL") {
                conclave = conclave.variable(variable, "http://127.0.0.1:9");
            }
        }
        at_the_end(conclave, columns, colours, 1)
    });
    insta::assert_snapshot!(seen);
}

/// Holds a first round: one expert has answered, one waits for its retry, one for its first byte.
fn first_round(columns: u16, colours: Colours) -> String {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(On::any(), Answer::valid().held_by(&hold));
    server.on(On::vendor(Vendor::Anthropic), Answer::text(LONG_POSITION));
    let overloaded =
        r#"{"error": {"code": 529, "message": "Overloaded", "status": "UNAVAILABLE"}}"#;
    server.on(
        On::vendor(Vendor::Google),
        Answer::http(529, "application/json", overloaded).header("retry-after", "29"),
    );
    let conclave = colours
        .apply(consent_terminal(&server))
        .variable("CONCLAVE_HEDGE_AFTER", "off");
    let arguments = ["consult", "--yes", "--on-failure", "skip", "Shall we?"];
    let mut terminal = Terminal::start(&conclave, columns, Output::Terminal, &arguments);
    terminal.wait_until("every expert shows its phase", |screen| {
        let text = screen.contents();
        let is_waiting = text.contains("waiting for the first");
        text.contains("82%") && text.contains("retrying 2 of 3") && is_waiting
    });
    let seen = steady(&terminal.look(|screen| colours.look(screen)));
    terminal.type_in("\x03");
    let (output, transcript) = terminal.end();
    hold.release();
    output.ends_with(130);
    let left = transcript.screen().history();
    assert_eq!(left.matches("stopped").count(), 2, "{left}");
    seen
}

#[test]
fn round_under_way_fits_the_terminal() {
    insta::assert_snapshot!(on_both(first_round));
}
