//! Questions on a real terminal while a round runs: whether to keep waiting, and whether another model
//! may take over.

use std::time::Duration;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};

const WAITING: &str = "Continue waiting? [Y/n] ";
const SUBSTITUTE: &str = "for this agent? [Y/n/Fail] ";

/// Starts a consultation with its cost approved and a short pulse.
fn consult(
    server: &ProviderServer,
    pulse_seconds: &str,
    arguments: &[&str],
) -> (Conclave, Terminal) {
    let config = format!(
        "{{\"always_allow_under\": 90, \"hedge_after\": \"off\", \"pulse_seconds\": {pulse_seconds}}}"
    );
    let conclave = Conclave::at(server)
        .variable("TERM", "xterm-256color")
        .config(&config);
    let terminal = Terminal::start(
        &conclave,
        160,
        Output::Pipe,
        &[&["consult", "Shall we?"], arguments].concat(),
    );
    (conclave, terminal)
}

#[test]
fn yes_repeats_the_pulse_and_no_preserves_the_answers() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Anthropic),
        Answer::text("never to be finished").stall(),
    );
    let (conclave, mut terminal) = consult(&server, "0.5", &[]);
    terminal.wait_for(WAITING, 1);
    terminal.type_in("\n");
    terminal.wait_for("⏳ Continuing...", 1);
    terminal.wait_for(WAITING, 2);
    terminal.type_in("n\n");
    let (ran, screen) = terminal.end();
    assert_eq!(ran.ends_with(3).stdout, "");
    let text = screen.text();
    assert!(
        text.contains("⏱️ Still waiting on Security Expert ("),
        "{text}"
    );
    assert!(
        text.contains("error: Consultation cancelled by user after ")
            && text.contains("💾 Partial results saved to: "),
        "{text}"
    );
    assert_eq!(conclave.record()["abort_reason"], "user_cancelled");
}

#[test]
fn all_slow_experts_are_listed() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("never to be finished").stall());
    let (_conclave, mut terminal) = consult(&server, "0.3", &[]);
    terminal.wait_for(WAITING, 1);
    terminal.type_in("no\n");
    let (ran, screen) = terminal.end();
    ran.ends_with(3);
    assert!(
        screen.text().contains(
            "⏱️ Still waiting on:\n- Security Expert (0s)\n- Architect (0s)\n- Pragmatist (0s)\n"
        ),
        "{}",
        screen.text()
    );
}

#[test]
fn an_arriving_answer_withdraws_the_question() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::valid().delay(Duration::from_secs(2)),
    );
    let (_conclave, terminal) = consult(&server, "0.8", &[]);
    terminal.wait_for(WAITING, 1);
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    let after = screen.text().split(WAITING).nth(1).unwrap().to_owned();
    assert!(after.starts_with('\n'), "its line is ended: {after}");
    assert!(
        after.contains("📋 Round 1 complete\n") && after.contains("✨ Consultation complete\n"),
        "{after}"
    );
}

#[test]
fn ctrl_c_at_a_question_ends_the_consultation() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("never to be finished").stall());
    let (_conclave, mut terminal) = consult(&server, "0.3", &[]);
    terminal.wait_for(WAITING, 1);
    terminal.type_in("\x03");
    let (ran, screen) = terminal.end();
    ran.ends_with(130);
    assert_eq!(
        screen.text().matches(WAITING).count(),
        1,
        "the question is not repeated: {}",
        screen.text()
    );
    assert!(
        screen
            .text()
            .contains("\nerror: Consultation interrupted\n"),
        "{}",
        screen.text()
    );
}

#[test]
fn noninteractive_runs_print_one_line_and_do_not_wait() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::valid().delay(Duration::from_secs(2)),
    );
    let config = r#"{"always_allow_under": 90, "hedge_after": "off", "pulse_seconds": 0.8}"#;
    let ran = Conclave::at(&server)
        .config(config)
        .run(&["consult", "Shall we?"])
        .ends_with(0);
    assert!(
        ran.stderr
            .contains("\n⏱️ Still waiting on Security Expert (0s elapsed).\n"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("Continue waiting"), "{}", ran.stderr);
}

/// Starts a consultation whose Pragmatist fails.
fn failing(arguments: &[&str]) -> (ProviderServer, Conclave, Terminal) {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Google),
        Answer::http(400, "text/plain", "we do not know you"),
    );
    let (conclave, terminal) = consult(&server, "0", arguments);
    (server, conclave, terminal)
}

#[test]
fn the_fallback_takes_over_when_the_user_agrees() {
    let (_server, conclave, mut terminal) = failing(&[]);
    terminal.wait_for(SUBSTITUTE, 1);
    terminal.type_in("\n");
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    let text = screen.text();
    assert!(
        text.contains("⚠️ Google (gemini-4-argon) is unavailable (failure).\n   Pragmatist: "),
        "{text}"
    );
    assert!(
        text.contains("we do not know you")
            && text.contains("\nSwitch to Anthropic (claude-sonnet-5-5) for this agent? "),
        "{text}"
    );
    assert!(
        text.contains("anthropic:claude-sonnet-5-5 takes over as Pragmatist."),
        "{text}"
    );
    assert_eq!(
        conclave.record()["substitutions"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn the_panel_continues_without_the_seat_when_the_user_refuses() {
    let (_server, _conclave, mut terminal) = failing(&[]);
    terminal.wait_for(SUBSTITUTE, 1);
    terminal.type_in("what\n");
    terminal.wait_for("Please answer y, n or fail: ", 1);
    terminal.type_in("n\n");
    let (ran, screen) = terminal.end();
    assert!(ran.ends_with(0).stdout.contains("Degraded result"));
    assert!(
        screen.text().contains("⚠️ Agent Pragmatist failed: "),
        "{}",
        screen.text()
    );
}

#[test]
fn fail_ends_the_consultation() {
    let (_server, conclave, mut terminal) = failing(&[]);
    terminal.wait_for(SUBSTITUTE, 1);
    terminal.type_in("Fail\n");
    let (ran, _) = terminal.end();
    assert_eq!(ran.ends_with(3).stdout, "");
    assert_eq!(conclave.record()["abort_reason"], "user_cancelled");
}

#[test]
fn the_fallback_takes_over_when_input_ends() {
    let (_server, conclave, mut terminal) = failing(&[]);
    terminal.wait_for(SUBSTITUTE, 1);
    terminal.type_in("\x04");
    terminal.end().0.ends_with(0);
    assert_eq!(
        conclave.record()["substitutions"].as_array().map(Vec::len),
        Some(1)
    );
}
