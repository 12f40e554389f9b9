//! What a person reads while the experts work, at a moment that the server holds.

use super::consent_terminal;
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::screen::Screen;
use crate::support::steady_text::steady;

const ARGUMENTS: [&str; 5] = ["consult", "--yes", "--on-failure", "skip", "Shall we?"];

const POSITION: &str = r#"{"position": "Use **OAuth 2.1** with PKCE; JWT only as the access-token format, never as a session. Rotate refresh tokens on every use.", "key_points": ["Revocation."], "rationale": "A signed token cannot be revoked.", "confidence": 0.82}"#;

const REVISION: &str = r#"{"challenges": [], "rebuttals": [], "revised_position": "Opaque tokens.", "revised_confidence": 0.7, "changed": true, "because_of": [{"agent": "Expert A", "argument": "A signed token cannot be revoked before it expires, as Expert A shows."}]}"#;

/// A terminal on which no call is hedged while the server holds it.
fn unhedged(server: &ProviderServer) -> Conclave {
    consent_terminal(server).variable("CONCLAVE_HEDGE_AFTER", "off")
}

/// Holds a first round: one expert has answered, one waits for its retry, one for its first byte.
fn first_round(columns: u16, look: impl Fn(&Screen) -> String, colour: bool) -> String {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(On::any(), Answer::valid().held_by(&hold));
    server.on(On::vendor(Vendor::Anthropic), Answer::text(POSITION));
    let overloaded =
        r#"{"error": {"code": 529, "message": "Overloaded", "status": "UNAVAILABLE"}}"#;
    server.on(
        On::vendor(Vendor::Google),
        Answer::http(529, "application/json", overloaded).header("retry-after", "29"),
    );
    let mut conclave = unhedged(&server);
    if !colour {
        conclave = conclave.variable("NO_COLOR", "1");
    }
    let mut terminal = Terminal::start(&conclave, columns, Output::Terminal, &ARGUMENTS);
    terminal.wait_until("every expert shows its phase", |screen| {
        let text = screen.contents();
        let is_waiting = text.contains("waiting for the first");
        text.contains("82%") && text.contains("retrying 2 of 3") && is_waiting
    });
    let seen = steady(&terminal.look(look));
    terminal.type_in("\x03");
    let (output, transcript) = terminal.end();
    hold.release();
    output.ends_with(130);
    let left = transcript.screen().history();
    assert_eq!(left.matches("stopped").count(), 2, "{left}");
    seen
}

#[test]
fn round_under_way_fits_50_columns() {
    insta::assert_snapshot!(first_round(50, Screen::contents, false));
}

#[test]
fn round_under_way_fits_80_columns() {
    insta::assert_snapshot!(first_round(80, Screen::contents, false));
}

#[test]
fn round_under_way_fits_120_columns() {
    insta::assert_snapshot!(first_round(120, Screen::contents, false));
}

#[test]
fn round_under_way_fits_200_columns() {
    insta::assert_snapshot!(first_round(200, Screen::contents, false));
}

#[test]
fn round_under_way_has_colours_at_50_columns() {
    insta::assert_snapshot!(first_round(50, Screen::styled, true));
}

#[test]
fn round_under_way_has_colours_at_80_columns() {
    insta::assert_snapshot!(first_round(80, Screen::styled, true));
}

#[test]
fn round_under_way_has_colours_at_120_columns() {
    insta::assert_snapshot!(first_round(120, Screen::styled, true));
}

#[test]
fn round_under_way_has_colours_at_200_columns() {
    insta::assert_snapshot!(first_round(200, Screen::styled, true));
}

#[test]
fn third_round_names_the_experts_behind_each_change() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    let asking = || On::asking_for("revised_position");
    server.on(asking(), Answer::valid().held_by(&hold));
    server.on(
        asking().and_vendor(Vendor::Anthropic),
        Answer::text(REVISION),
    );
    let terminal = Terminal::start(&unhedged(&server), 80, Output::Terminal, &ARGUMENTS);
    terminal.wait_for_sight("changed its mind");
    let text = terminal.look(Screen::history);
    assert!(text.contains("\n  Because of "), "{text}");
    assert!(!text.contains("Expert A"), "{text}");
    assert!(text.contains("\n  Agreed by "), "{text}");
    hold.release();
    let (output, _) = terminal.end();
    output.ends_with(0);
}
