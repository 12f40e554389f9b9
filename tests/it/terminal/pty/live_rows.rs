//! The rows that are redrawn while models answer: what a person sees, and the state in which the
//! terminal is left.

use std::ffi::OsStr;

use rustix::process::Signal;

use super::consent_terminal;
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer};
use crate::support::pty::{Output, Terminal};
use crate::support::screen::Screen;
use crate::terminal::ended;

const ARGUMENTS: [&str; 3] = ["consult", "--yes", "Shall we?"];
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const EXPERTS: usize = 3;

/// A server whose answers wait for the hold, and a terminal with colours.
fn held_answers() -> (ProviderServer, Hold, Conclave) {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(On::any(), Answer::valid().held_by(&hold));
    let conclave = consent_terminal(&server);
    (server, hold, conclave)
}

/// Starts a run and waits until its rows are drawn.
fn start(conclave: &Conclave, size: (u16, u16)) -> Terminal {
    let terminal = Terminal::start_sized(conclave, size, Output::Terminal, &ARGUMENTS);
    terminal.wait_until("all rows are drawn", has_one_set_of_rows);
    terminal
}

/// Starts an interactive shell with job control, which calls the binary `conclave`.
fn start_shell(conclave: &Conclave) -> Terminal {
    let shell = OsStr::new("bash");
    let arguments = ["--norc", "--noprofile", "-i"];
    let mut terminal = Terminal::start_program(conclave, 80, Output::Terminal, shell, &arguments);
    let binary = conclave.command().get_program().display().to_string();
    terminal.type_in(&format!("PS1='> '; conclave() {{ '{binary}' \"$@\"; }}\n"));
    terminal.wait_until("the prompt is shown", |screen| {
        screen.contents().ends_with("\n>")
    });
    terminal
}

/// Returns the number of rows of agents at work, also of those that have scrolled out of sight.
fn rows_at_work(screen: &Screen) -> usize {
    let history = screen.history();
    let lines = history.lines();
    lines
        .filter(|line| line.contains(|c| SPINNER.contains(&c)))
        .count()
}

fn has_one_set_of_rows(screen: &Screen) -> bool {
    rows_at_work(screen) == EXPERTS && !screen.is_cursor_visible()
}

/// Waits until something has been drawn again.
fn wait_for_a_frame(terminal: &Terminal) {
    let before = terminal.look(|screen| screen.written().len());
    terminal.wait_until("a frame is drawn", |screen| screen.written().len() > before);
}

/// Types a command and returns the line that it prints.
fn output_of(terminal: &mut Terminal, command: &str) -> String {
    let marked = |screen: &Screen| screen.history().matches("\n:done").count();
    let before = terminal.look(marked);
    terminal.type_in(&format!("{command}; echo :done\n"));
    terminal.wait_until("the command has ended", |screen| marked(screen) > before);
    let history = terminal.look(Screen::history);
    let lines: Vec<&str> = history.lines().collect();
    let end = lines.iter().rposition(|line| *line == ":done").unwrap();
    lines[end - 1].to_owned()
}

#[test]
fn run_leaves_the_terminal_as_it_was() {
    let (server, hold, conclave) = held_answers();
    server.on(
        On::any().nth(EXPERTS),
        Answer::valid().held_halfway_by(&hold),
    );
    let terminal = Terminal::start_sized(&conclave, (80, 24), Output::Terminal, &ARGUMENTS);
    terminal.wait_until("all rows are drawn", has_one_set_of_rows);
    assert!(!terminal.echoes());
    let styled = terminal.look(Screen::styled);
    assert!(styled.contains("{bold}Security Expert{/}"), "{styled}");
    hold.release();
    let transcript = ended(terminal, 0);
    assert!(transcript.has_restored_modes());
    assert!(transcript.screen().is_cursor_visible());
    assert_eq!(rows_at_work(transcript.screen()), 0);
}

#[test]
fn resize_leaves_one_set_of_rows() {
    let (_server, hold, conclave) = held_answers();
    let terminal = start(&conclave, (110, 40));
    for (columns, rows) in [(60, 40), (130, 40), (45, 20), (80, 30)] {
        terminal.resize(columns, rows);
        wait_for_a_frame(&terminal);
        terminal.wait_until("one set of rows is left", has_one_set_of_rows);
    }
    hold.release();
    let transcript = ended(terminal, 0);
    assert_eq!(rows_at_work(transcript.screen()), 0);
}

#[test]
fn lines_wrap_at_the_present_width() {
    let (_server, hold, conclave) = held_answers();
    let terminal = start(&conclave, (110, 40));
    terminal.resize(50, 40);
    // A frame of the earlier width may still be on its way.
    terminal.wait_for_sight("\n1/4 · ");
    let before = terminal.look(|screen| screen.written().len());
    hold.release();
    let transcript = ended(terminal, 0);
    let later = String::from_utf8_lossy(&transcript.screen().written()[before..]).into_owned();
    let text = console::strip_ansi_codes(&later);
    assert!(text.contains("Cost"), "{text}");
    // Each row ends with a return to the start of its line.
    for line in text.split(['\n', '\r']) {
        assert!(console::measure_text_width(line) <= 50, "{line}");
    }
}

#[test]
fn typing_leaves_no_marks_while_nothing_is_asked() {
    let (_server, hold, conclave) = held_answers();
    let mut terminal = start(&conclave, (80, 24));
    terminal.type_in("typed\r\x1b[Atyped\n");
    wait_for_a_frame(&terminal);
    terminal.wait_until("one set of rows is left", has_one_set_of_rows);
    hold.release();
    let transcript = ended(terminal, 0);
    let history = transcript.screen().history();
    assert!(!history.contains("typed"), "{history}");
    assert!(!history.contains("^["), "{history}");
}

#[test]
fn ctrl_c_and_sigterm_leave_no_spinner() {
    for signal in [None, Some(Signal::TERM), Some(Signal::HUP)] {
        let (_server, _hold, conclave) = held_answers();
        let mut terminal = start(&conclave, (80, 24));
        let quiet_modes = terminal.modes();
        match signal {
            None => terminal.type_in("\x03"),
            Some(signal) => terminal.signal(signal),
        }
        let transcript = ended(terminal, 130);
        let screen = transcript.screen();
        assert_eq!(rows_at_work(screen), 0, "{screen:?}");
        assert_eq!(
            screen.history().matches("stopped").count(),
            EXPERTS,
            "{screen:?}"
        );
        assert!(!screen.history().contains("^C"), "{screen:?}");
        assert!(screen.is_cursor_visible());
        assert_ne!(transcript.modes(), quiet_modes);
    }
}

#[test]
fn ctrl_backslash_restores_the_terminal() {
    let (_server, _hold, conclave) = held_answers();
    let mut terminal = start(&conclave, (80, 24));
    let quiet_modes = terminal.modes();
    terminal.type_in("\x1c");
    let transcript = ended(terminal, 131);
    assert_eq!(rows_at_work(transcript.screen()), 0);
    assert!(transcript.screen().is_cursor_visible());
    assert_ne!(transcript.modes(), quiet_modes);
}

#[test]
fn ctrl_z_restores_the_terminal_and_fg_draws_again() {
    let (_server, hold, conclave) = held_answers();
    let mut terminal = start_shell(&conclave);
    let modes = output_of(&mut terminal, "stty -g");
    terminal.type_in("conclave consult --yes 'Shall we?'\n");
    terminal.wait_until("all rows are drawn", has_one_set_of_rows);
    terminal.type_in("\x1a");
    terminal.wait_for_sight("Stopped");
    let (stopped, is_visible) =
        terminal.look(|screen| (screen.history(), screen.is_cursor_visible()));
    assert!(!stopped.contains(SPINNER), "{stopped}");
    assert!(is_visible);
    assert_eq!(output_of(&mut terminal, "stty -g"), modes);
    terminal.type_in("fg\n");
    terminal.wait_until("all rows are drawn again", has_one_set_of_rows);
    assert!(!terminal.echoes());
    hold.release();
    terminal.wait_for("Consultation complete", 1);
    assert_eq!(output_of(&mut terminal, "stty -g"), modes);
    terminal.type_in("exit\n");
    let (_, transcript) = terminal.end();
    assert_eq!(rows_at_work(transcript.screen()), 0);
}

#[test]
fn question_in_the_background_waits_and_fg_draws_it_again() {
    const QUESTION: &str = "Go on? [Y/n/a = always below $";
    let server = ProviderServer::start();
    let conclave = consent_terminal(&server);
    let mut terminal = start_shell(&conclave);
    terminal.type_in("conclave consult 'Shall we?'\n");
    terminal.wait_for_sight(QUESTION);
    terminal.type_in("\x1a");
    terminal.wait_for_sight("Stopped");
    let stopped = terminal.look(Screen::contents);
    assert!(!stopped.contains(QUESTION), "{stopped}");
    // What is typed now is for the shell, and is no reason to stop the process again.
    terminal.type_in("bg\n");
    assert_eq!(output_of(&mut terminal, "echo still there"), "still there");
    let state = output_of(&mut terminal, "jobs");
    assert!(state.contains("Running"), "{state}");
    let before = terminal.look(Screen::contents);
    assert!(!before.contains(QUESTION), "{before}");
    terminal.type_in("fg\n");
    terminal.wait_for_sight(QUESTION);
    let after = terminal.look(Screen::contents);
    assert_eq!(after.matches(QUESTION).count(), 1, "{after}");
    terminal.type_in("n");
    terminal.wait_for("nothing was spent", 1);
    terminal.type_in("exit\n");
    let (_, transcript) = terminal.end();
    let history = transcript.screen().history();
    assert_eq!(history.matches(QUESTION).count(), 1, "{history}");
    assert!(server.requests().is_empty());
}

#[test]
fn background_run_draws_nothing_and_ends() {
    let (_server, hold, conclave) = held_answers();
    let mut terminal = start_shell(&conclave);
    terminal.type_in("conclave consult --yes 'Shall we?' & wait\n");
    terminal.wait_for("Security Expert", 1);
    hold.release();
    terminal.wait_for("Consultation complete", 1);
    terminal.wait_for("Done", 1);
    terminal.type_in("exit\n");
    let (_, transcript) = terminal.end();
    assert!(
        !transcript.written().contains(SPINNER),
        "{}",
        transcript.written()
    );
}
