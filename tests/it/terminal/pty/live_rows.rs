//! The rows that are redrawn while models answer: what a person sees, and the state in which the
//! terminal is left.

use super::consent_terminal;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer};
use crate::support::pty::{Output, Terminal};
use crate::support::screen::Screen;

const ARGUMENTS: [&str; 3] = ["consult", "--yes", "Shall we?"];

#[test]
fn run_leaves_the_terminal_as_it_was() {
    let server = ProviderServer::start();
    let (first, rest) = (Hold::new(), Hold::new());
    server.on(On::any(), Answer::valid().held_halfway_by(&rest));
    server.on(On::any().nth(1), Answer::valid().held_by(&first));
    let terminal = Terminal::start_sized(
        &consent_terminal(&server),
        (80, 24),
        Output::Terminal,
        &ARGUMENTS,
    );
    let modes = terminal.modes();
    terminal.wait_for_sight("Round 1 of 4");
    let styled = terminal.look(Screen::styled);
    assert!(styled.contains("{bold}Security Expert{/}"), "{styled}");
    terminal.resize(100, 30);
    first.release();
    rest.release();
    assert!(!terminal.echoes());
    let (output, transcript) = terminal.end();
    output.ends_with(0);
    assert_eq!(transcript.modes(), modes);
    assert!(
        transcript
            .screen()
            .history()
            .contains("Consultation complete")
    );
    assert!(transcript.screen().is_cursor_visible());
}
