//! Questions on a real terminal while a round runs: whether to keep waiting, and whether another
//! model may take over.

use conclave::records::journal::read_journal;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::screen::Screen;

const WAITING: &str = "or stop? [W/";
const SUBSTITUTE: &str = "instead? [Y/n/f = end]";
const SUBSTITUTE_ALL: &str = "Use these models instead? [Y/n/f = end]";

/// Starts a consultation with its cost approved and a short pulse.
fn consult(
    server: &ProviderServer,
    pulse_seconds: &str,
    arguments: &[&str],
) -> (Conclave, Terminal) {
    let config = format!(
        r#"{{"always_allow_under": 90, "hedge_after": "off", "pulse_seconds": {pulse_seconds}}}"#
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
    terminal.wait_for_sight(WAITING);
    let asked = terminal.look(Screen::contents);
    let (rows, question) = asked.split_once("⏱️ Still waiting").unwrap();
    assert!(rows.contains("Security Expert"), "the rows stay: {asked}");
    assert!(question.contains(WAITING), "{asked}");
    terminal.type_in("\n");
    terminal.wait_for("⏳ Continuing...", 1);
    terminal.wait_until("the question goes and comes back", |screen| {
        let contents = screen.contents();
        contents.contains("⏳ Continuing...") && contents.contains(WAITING)
    });
    terminal.type_in("s");
    let (ran, screen) = terminal.end();
    assert_eq!(ran.ends_with(3).stdout, "");
    let text = screen.screen().history();
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
    terminal.wait_for_sight(WAITING);
    let asked = terminal.look(Screen::contents);
    terminal.type_in("s");
    terminal.end().0.ends_with(3);
    assert!(
        asked.contains(
            "⏱️ Still waiting on:\n- Security Expert (0s)\n- Architect (0s)\n- Pragmatist (0s)\n"
        ),
        "{asked}"
    );
}

#[test]
fn an_arriving_answer_withdraws_the_question() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::valid().held_by(&hold),
    );
    let (_conclave, terminal) = consult(&server, "0.8", &[]);
    terminal.wait_for(WAITING, 1);
    hold.release();
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
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
    let (_conclave, mut terminal) = consult(&server, "0.3", &[]);
    let modes = terminal.modes();
    terminal.wait_for(WAITING, 1);
    terminal.type_in("\x03");
    let (ran, screen) = terminal.end();
    ran.ends_with(130);
    let history = screen.screen().history();
    assert!(!history.contains("or stop?"), "{history}");
    assert!(
        history.contains("\nerror: Consultation interrupted\n"),
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
    let config = r#"{"always_allow_under": 90, "hedge_after": "off", "pulse_seconds": 2}"#;
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
        text.contains("⚠️ gemini-4-argon (Google) is unavailable for Pragmatist: "),
        "{text}"
    );
    assert!(
        text.contains("we do not know you")
            && text.contains("\nUse claude-sonnet-5-5 (Anthropic) instead? "),
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
    terminal.type_in("w");
    terminal.wait_for("Press one of these keys: y = yes, n = no, f = end", 1);
    terminal.type_in("n");
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
    terminal.type_in("f");
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

#[test]
fn refused_keys_end_in_one_error_without_a_question() {
    let server = ProviderServer::start();
    for (vendor, status) in [
        (Vendor::Anthropic, 401),
        (Vendor::OpenAi, 401),
        (Vendor::Google, 403),
    ] {
        server.on(
            On::vendor(vendor),
            Answer::error(status, "authentication_error", "wrong key"),
        );
    }
    let (_conclave, terminal) = consult(&server, "0", &[]);
    let (ran, screen) = terminal.end();
    ran.ends_with(1);
    let text = screen.text();
    let (_, error) = text.split_once("error: ").expect("an error");
    assert_eq!(
        error,
        "All agents failed. Unable to provide consultation.\n\
         \x20 Anthropic: key refused: wrong key (HTTP 401); check `ANTHROPIC_API_KEY`\n\
         \x20 Google: key refused: wrong key (HTTP 403); check `GEMINI_API_KEY`\n\
         \x20 OpenAI: key refused: wrong key (HTTP 401); check `OPENAI_API_KEY`\n\
         hint: find out what to fix with `conclave doctor`\n"
    );
    assert_eq!(text.matches("wrong key").count(), 3, "{text}");
    assert!(!text.contains("instead?"), "{text}");
    assert!(!text.contains("degraded"), "{text}");
    assert!(!text.contains("resume"), "{text}");
    assert!(!text.contains("Partial results"), "{text}");
}

#[test]
fn refused_keys_are_no_degraded_providers() {
    let server = ProviderServer::start();
    for vendor in [Vendor::OpenAi, Vendor::Google] {
        let refused = Answer::error(401, "authentication_error", "wrong key");
        server.on(On::vendor(vendor), refused);
    }
    let (_conclave, mut terminal) = consult(&server, "0", &[]);
    terminal.wait_for_sight(SUBSTITUTE_ALL);
    let asked = terminal.look(Screen::contents);
    assert_eq!(asked.matches(" (Anthropic)").count(), 2, "{asked}");
    terminal.type_in("y");
    terminal.wait_for_sight("unavailable for Judge");
    terminal.type_in("y");
    let (ran, screen) = terminal.end();
    let answer = ran.ends_with(0).stdout;
    assert!(answer.contains("Degraded result"), "{answer}");
    let history = screen.screen().history();
    assert!(!history.contains("is degraded"), "{history}");
    assert!(!history.contains("are degraded"), "{history}");
    assert!(!history.contains("slower than usual"), "{history}");
}

#[test]
fn without_a_network_one_error_names_each_vendor() {
    let server = ProviderServer::start();
    let mut conclave = Conclave::at(&server)
        .variable("TERM", "xterm-256color")
        .config(r#"{"always_allow_under": 90, "hedge_after": "off", "pulse_seconds": 0}"#);
    // Nothing listens at the discard port.
    for (variable, _) in server.variables() {
        if variable.ends_with("_URL") {
            conclave = conclave.variable(variable, "http://127.0.0.1:9");
        }
    }
    let terminal = Terminal::start(&conclave, 160, Output::Pipe, &["consult", "Shall we?"]);
    let (ran, screen) = terminal.end();
    ran.ends_with(1);
    let text = screen.text();
    let (_, error) = text.split_once("error: ").expect("an error");
    let causes = ["Anthropic", "Google", "OpenAI"]
        .map(|vendor| format!("  {vendor}: no connection: connection refused by `127.0.0.1:9`\n"));
    assert_eq!(
        error,
        format!(
            "All agents failed. Unable to provide consultation.\n{}hint: find out what to fix \
             with `conclave doctor`\n",
            causes.concat()
        )
    );
    assert!(!text.contains("instead?"), "{text}");
    assert!(!text.contains("degraded"), "{text}");
}

#[test]
fn answers_above_an_open_question_do_not_repeat_it() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    let failing = Answer::http(400, "text/plain", "we do not know you");
    server.on(On::vendor(Vendor::Google).nth(1), failing);
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::valid().held_by(&hold),
    );
    let (_conclave, mut terminal) = consult(&server, "0", &[]);
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
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    let history = screen.screen().history();
    assert_eq!(history.matches(SUBSTITUTE).count(), 1, "{history}");
}

#[test]
fn all_failed_seats_are_one_question_on_the_screen() {
    let server = ProviderServer::start();
    for vendor in [Vendor::Google, Vendor::OpenAi] {
        let failing = Answer::http(400, "text/plain", "we do not know you");
        server.on(On::vendor(vendor).nth(1), failing);
    }
    let (conclave, mut terminal) = consult(&server, "0", &[]);
    terminal.wait_for("Use these models instead? [Y/n/f = end] ", 1);
    terminal.type_in("y");
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    let text = screen.screen().history();
    assert_eq!(text.matches("[Y/n/f = end]").count(), 1, "{text}");
    assert!(text.contains(" is unavailable for Architect: "), "{text}");
    assert!(text.contains(" is unavailable for Pragmatist: "), "{text}");
    let substitutions = conclave.record()["substitutions"].clone();
    assert_eq!(substitutions.as_array().map(Vec::len), Some(2));
}

#[test]
fn going_on_without_a_slow_expert_gives_an_answer() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Anthropic).nth(1),
        Answer::text("never to be finished").stall(),
    );
    let (conclave, mut terminal) = consult(&server, "0.5", &["--rounds", "2"]);
    terminal.wait_for("Wait, go on without it, or stop? [W/g/s] ", 1);
    terminal.type_in("g");
    let (ran, _) = terminal.end();
    let stdout = ran.ends_with(0).stdout;
    assert!(stdout.starts_with("> ⚠️ **Degraded result:**"), "{stdout}");
    assert!(
        stdout
            .contains("Security Expert gave no answer in Round 1: left out at the user's request"),
        "{stdout}"
    );
    let record = conclave.record();
    assert_eq!(record["status"], "degraded");
    assert_eq!(record["cost"]["lower_bound"], true);
    assert_eq!(record["agents"].as_array().map(Vec::len), Some(3));
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
