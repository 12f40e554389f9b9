//! Questions on a real terminal while a round runs: whether to keep waiting, and whether another
//! model may take over.

use conclave::records::journal::read_journal;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::screen::Screen;
use crate::terminal::ended;

const WAITING: &str = "or stop? [W/";
const SUBSTITUTE: &str = "instead? [Y/n/f = end]";

/// Starts a consultation with its cost approved and a short pulse.
fn consult(server: &ProviderServer, pulse_seconds: &str) -> (Conclave, Terminal) {
    let config = format!(
        r#"{{"always_allow_under": 90, "hedge_after": "off", "pulse_seconds": {pulse_seconds}}}"#
    );
    let conclave = Conclave::at(server)
        .variable("TERM", "xterm-256color")
        .config(&config);
    let terminal = Terminal::start(&conclave, 160, Output::Pipe, &["consult", "Shall we?"]);
    (conclave, terminal)
}

#[test]
fn yes_repeats_the_pulse_and_no_preserves_the_answers() {
    let server = ProviderServer::start();
    let stalled = Answer::text("never to be finished").stall();
    server.on(On::vendor(Vendor::Anthropic), stalled);
    let (conclave, mut terminal) = consult(&server, "0.5");
    terminal.wait_for_sight(WAITING);
    let asked = terminal.look(Screen::contents);
    let (rows, question) = asked.split_once("⏱️ Still waiting").unwrap();
    assert!(rows.contains("Security Expert"), "the rows stay: {asked}");
    assert!(question.contains(WAITING), "{asked}");
    terminal.type_in("\n");
    terminal.wait_until("the question goes and comes back", |screen| {
        let contents = screen.contents();
        contents.contains("⏳ Continuing...") && contents.contains(WAITING)
    });
    terminal.type_in("s");
    let (ran, screen) = terminal.end();
    assert_eq!(ran.ends_with(3).stdout, "");
    let text = screen.screen().history();
    for line in [
        "Consultation cancelled by user after ",
        "💾 Partial results saved to: ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(conclave.record()["abort_reason"], "user_cancelled");
}

#[test]
fn an_arriving_answer_withdraws_the_question() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::valid().held_by(&hold),
    );
    let (_conclave, terminal) = consult(&server, "0.8");
    terminal.wait_for(WAITING, 1);
    hold.release();
    let screen = ended(terminal, 0);
    let history = screen.screen().history();
    assert!(
        !history.contains("Still waiting") && !history.contains("or stop?"),
        "it disappears with its lines: {history}"
    );
    assert!(
        history.contains("📋 Round 1 complete\n") && history.contains("✨ Consultation complete"),
        "{history}"
    );
}

#[test]
fn ctrl_c_at_a_question_ends_the_consultation() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("never to be finished").stall());
    let (_conclave, mut terminal) = consult(&server, "0.3");
    let modes = terminal.modes();
    terminal.wait_for(WAITING, 1);
    terminal.type_in("\x03");
    let screen = ended(terminal, 130);
    let history = screen.screen().history();
    assert!(!history.contains("or stop?"), "{history}");
    assert!(
        history.contains("\nConsultation interrupted\n"),
        "{history}"
    );
    assert_eq!(screen.modes(), modes);
    assert!(screen.screen().is_cursor_visible());
}

#[test]
fn noninteractive_runs_print_one_line_and_do_not_wait() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::valid().held_by(&hold),
    );
    let config = r#"{"always_allow_under": 90, "hedge_after": "off", "pulse_seconds": 0.3}"#;
    let conclave = Conclave::at(&server).config(config);
    let running = conclave.start(&["consult", "Shall we?"]);
    // The seconds are those of the machine.
    let is_reported = |line: &str| {
        line.starts_with("⏱️ Still waiting on Security Expert (") && line.ends_with("s elapsed).")
    };
    running.wait_until("the wait is reported", |stderr| {
        stderr.lines().any(is_reported)
    });
    hold.release();
    let ran = running.wait().ends_with(0);
    assert!(!ran.stderr.contains("or stop?"), "{}", ran.stderr);
}

fn rejection() -> Answer {
    Answer::http(400, "text/plain", "we do not know you")
}

#[test]
fn the_fallback_takes_over_when_the_user_agrees() {
    let server = ProviderServer::start();
    server.on(On::vendor(Vendor::Google), rejection());
    let (conclave, mut terminal) = consult(&server, "0");
    terminal.wait_for(SUBSTITUTE, 1);
    terminal.type_in("\n");
    let screen = ended(terminal, 0);
    let text = screen.text();
    for words in [
        "⚠️ gemini-4-argon (Google) is unavailable for Pragmatist: ",
        "we do not know you",
        "\nUse claude-sonnet-5-5 (Anthropic) instead? ",
        "anthropic:claude-sonnet-5-5 takes over as Pragmatist.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(
        conclave.record()["substitutions"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn answers_above_an_open_question_do_not_repeat_it() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(On::vendor(Vendor::Google).nth(1), rejection());
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::valid().held_by(&hold),
    );
    let (_conclave, mut terminal) = consult(&server, "0");
    terminal.wait_for_sight(SUBSTITUTE);
    hold.release();
    terminal.wait_for("✔ Security Expert", 1);
    let history = terminal.look(Screen::history);
    assert_eq!(history.matches(SUBSTITUTE).count(), 1, "{history}");
    assert_eq!(
        history.matches(" is unavailable for ").count(),
        1,
        "{history}"
    );
    terminal.type_in("y");
    let screen = ended(terminal, 0);
    let history = screen.screen().history();
    assert_eq!(history.matches(SUBSTITUTE).count(), 1, "{history}");
}

#[test]
fn time_at_the_cost_question_is_not_in_the_duration() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server)
        .variable("TERM", "xterm-256color")
        .config(r#"{"always_allow_under": 0, "pulse_seconds": 0}"#);
    let mut terminal = Terminal::start(&conclave, 160, Output::Pipe, &["consult", "Shall we?"]);
    terminal.wait_for("[Y/n/", 1);
    terminal.type_in("y");
    terminal.end().0.ends_with(0);
    let record = conclave.record();
    let waited = record["waited_for_person_ms"].as_u64().unwrap();
    assert!(waited > 0, "the question was open for a moment");
    let events = read_journal(&conclave.log("jsonl")).unwrap();
    let [first, .., last] = events.as_slice() else {
        panic!("{events:?}")
    };
    let took = last.at.ms_since(first.at);
    assert_eq!(record["duration_ms"].as_u64(), Some(took - waited));
}
