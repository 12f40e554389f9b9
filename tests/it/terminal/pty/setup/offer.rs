//! The offer of `conclave setup` before the first consultation: who gets it, and what each answer
//! leads to.

use serde_json::json;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::pty::{Output, Terminal};
use crate::terminal::ended;

use super::{ENTER, ESC, QUESTIONS, answer, is_untouched, settings};

const OFFER: &str = "No settings yet: set up what may be spent first? [y/N]";

/// A new home on a terminal, which is offered setup.
fn new_home(server: &ProviderServer) -> Conclave {
    Conclave::at(server)
        .without("CI")
        .variable("TERM", "xterm")
        .variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "100")
}

fn consult(conclave: &Conclave, arguments: &[&str]) -> Terminal {
    let arguments = [&["consult", "Shall we?"], arguments].concat();
    Terminal::start(conclave, 100, Output::Pipe, &arguments)
}

#[test]
fn a_new_home_is_offered_setup_once_and_enter_declines() {
    let server = ProviderServer::start();
    let conclave = new_home(&server);
    let mut terminal = consult(&conclave, &[]);
    answer(&mut terminal, OFFER, &[ENTER]);
    let (ran, _) = terminal.end();
    assert_ne!(ran.ends_with(0).stdout, "");
    assert!(!conclave.home().join("config.json").exists());
    let (ran, transcript) = consult(&conclave, &[]).end();
    ran.ends_with(0);
    assert!(
        !transcript.text().contains("No settings yet"),
        "{transcript:?}"
    );
}

#[test]
fn accepted_offer_runs_setup_and_then_the_consultation() {
    let server = ProviderServer::start();
    let conclave = new_home(&server);
    let mut terminal = consult(&conclave, &[]);
    answer(&mut terminal, OFFER, &["y"]);
    answer(&mut terminal, QUESTIONS[0], &[ENTER]);
    answer(
        &mut terminal,
        QUESTIONS[1],
        &["\u{7f}\u{7f}\u{7f}\u{7f}5", ENTER],
    );
    answer(&mut terminal, QUESTIONS[2], &[ENTER]);
    let (ran, _) = terminal.end();
    assert_ne!(ran.ends_with(0).stdout, "");
    assert_eq!(settings(&conclave)["monthly_budget"], json!(5));
}

#[test]
fn setup_left_after_the_offer_goes_back_to_the_question() {
    let server = ProviderServer::start();
    let conclave = new_home(&server);
    let mut terminal = consult(&conclave, &[]);
    answer(&mut terminal, OFFER, &["y"]);
    answer(&mut terminal, QUESTIONS[0], &[ESC]);
    let (ran, transcript) = terminal.end();
    assert_ne!(ran.ends_with(0).stdout, "");
    assert!(
        transcript.text().contains("Nothing was written"),
        "{transcript:?}"
    );
    assert!(!conclave.home().join("config.json").exists());
}

/// Leaves the offered setup and waits until the run has asked all experts.
fn run_after_setup(server: &ProviderServer, conclave: &Conclave) -> Terminal {
    let mut terminal = consult(conclave, &[]);
    answer(&mut terminal, OFFER, &["y"]);
    answer(&mut terminal, QUESTIONS[0], &[ESC]);
    server.wait_until("all experts are asked", |requests| {
        let asked = requests.iter().filter(|request| request.body.is_object());
        asked.count() == 3
    });
    terminal
}

#[test]
fn first_ctrl_c_after_the_offer_ends_the_run_in_order() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("never to be finished").stall());
    let conclave = new_home(&server);
    let mut terminal = run_after_setup(&server, &conclave);
    terminal.type_in("\u{3}");
    let transcript = ended(terminal, 130);
    assert!(
        transcript.text().contains("Consultation interrupted"),
        "{transcript:?}"
    );
}

#[test]
fn ctrl_c_at_the_offer_ends_the_run() {
    let server = ProviderServer::start();
    let conclave = new_home(&server);
    let mut terminal = consult(&conclave, &[]);
    answer(&mut terminal, OFFER, &["\u{3}"]);
    let transcript = ended(terminal, 130);
    let screen = transcript.screen().contents();
    let error = "Interrupted; nothing was written";
    assert!(screen.trim_end().ends_with(error), "{screen}");
    assert!(transcript.screen().is_cursor_visible());
    assert!(is_untouched(&conclave));
    assert!(server.requests().is_empty());
}

#[test]
fn scripts_and_users_with_settings_or_without_keys_get_no_offer() {
    let server = ProviderServer::start();
    let keyless = Conclave::new().without("CI").variable("TERM", "xterm");
    for (conclave, arguments) in [
        (new_home(&server), &["--yes"][..]),
        (new_home(&server), &["--quiet"]),
        (new_home(&server), &["--dry-run"]),
        (new_home(&server), &["--no-log"]),
        (new_home(&server).config("{}"), &[]),
        (new_home(&server).variable("CI", "1"), &[]),
        (keyless, &[]),
    ] {
        let (_, transcript) = consult(&conclave, arguments).end();
        let text = transcript.text();
        assert!(!text.contains("No settings yet"), "{arguments:?}: {text}");
    }
}
