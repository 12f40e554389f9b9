//! Lists and tables on a terminal: nothing overflows, and no word is cut.

use std::fmt::Write as _;

use super::screens::{Colours, WIDTHS};
use crate::support::binary::Conclave;
use crate::support::pty::{Output, Terminal};
use crate::support::sample_events;
use crate::support::saved::{complete_consultation, consultation_with};
use crate::support::screen::Screen;

/// Returns a home with some consultations of January 2026.
fn home_with_history() -> Conclave {
    let conclave = Conclave::new()
        .without("NO_COLOR")
        .variable("TERM", "xterm-256color");
    let question = "Should a team of four with three customers rewrite its scheduler, which works, in \
                    another language, or is it too early for that, given what we know today?";
    for (unique, at, question) in [
        (
            "01kea1aaaaaaaaaaaaaaaaaaaa",
            "2026-01-05T10:00:00Z",
            question,
        ),
        (
            "01kea2bbbbbbbbbbbbbbbbbbbb",
            "2026-01-09T10:00:00Z",
            "Which?",
        ),
        (
            "01kea3cccccccccccccccccccc",
            "2026-01-12T10:00:00Z",
            "One?\nTwo?",
        ),
    ] {
        complete_consultation(unique, at, question).save(&conclave);
    }
    let aborted = sample_events::aborted();
    consultation_with(
        aborted,
        "01kea4dddddddddddddddddddd",
        "2026-01-13T10:00:00Z",
        "Why?",
    )
    .save(&conclave);
    // The index is built once.
    conclave.run(&["history"]).ends_with(0);
    conclave
}

/// Runs on a terminal and returns its screen at the end.
fn shown<T>(
    conclave: &Conclave,
    columns: u16,
    arguments: &[&str],
    look: impl FnOnce(&Screen) -> T,
) -> T {
    let terminal = Terminal::start_sized(conclave, (columns, 150), Output::Terminal, arguments);
    let (output, transcript) = terminal.end();
    assert_eq!(output.code, Some(0), "{}", transcript.text());
    let too_wide = transcript.too_wide(columns.into());
    assert_eq!(too_wide, Vec::<String>::new(), "{columns}");
    look(transcript.screen())
}

/// Returns the screens of all widths, without colours and with them.
fn screens(mut conclave: Conclave, arguments: &[&str]) -> String {
    let mut all = String::new();
    for colours in [Colours::Off, Colours::On] {
        conclave = colours.apply(conclave);
        for columns in WIDTHS {
            let screen = shown(&conclave, columns, arguments, |screen| colours.look(screen));
            let _ = write!(all, "{}\n{screen}\n\n", colours.title(columns));
        }
    }
    all
}

#[test]
fn history_list_fits_every_terminal() {
    insta::assert_snapshot!(screens(home_with_history(), &["history", "list"]));
}

#[test]
fn statistics_fit_every_terminal() {
    let arguments = ["consult-stats", "--month", "2026-01"];
    insta::assert_snapshot!(screens(home_with_history(), &arguments));
}

#[test]
fn local_models_fit_every_terminal() {
    let conclave = Conclave::new()
        .without("NO_COLOR")
        .variable("TERM", "xterm-256color");
    let all = screens(conclave, &["model", "list"]);
    if !cfg!(feature = "local") {
        insta::assert_snapshot!(all);
    }
}

#[test]
fn settings_fit_every_terminal_with_what_they_do() {
    let conclave = Conclave::new()
        .without("NO_COLOR")
        .variable("TERM", "xterm-256color")
        .config(
            r#"{"judge": "claude-opus-5-5", "max_cost": 0.5, "panels": {"fast": "security=ollama:gemma4,architect=work:some-model,pragmatic=gemini-3.8-flash"}}"#,
        );
    insta::assert_snapshot!(screens(conclave, &["config", "show"]));
}

#[test]
fn no_table_cuts_a_word() {
    let conclave = home_with_history();
    for arguments in [
        &["models"][..],
        &["personas"],
        &["model", "list"],
        &["config", "show"],
        &["history", "list"],
    ] {
        for columns in WIDTHS {
            let narrow = shown(&conclave, columns, arguments, Screen::history);
            let wide = shown(&conclave, 400, arguments, Screen::history);
            let known: std::collections::BTreeSet<&str> = wide.split_whitespace().collect();
            // A word that is cut at the edge is none of those of a wide terminal.
            let cut: Vec<&str> = narrow
                .lines()
                .filter(|line| line.chars().count() >= usize::from(columns))
                .filter_map(|line| line.split_whitespace().last())
                .filter(|word| !known.contains(word))
                .collect();
            assert_eq!(cut, [""; 0], "{arguments:?}, {columns}: {narrow}");
        }
    }
}

#[test]
fn messages_are_wrapped_between_words() {
    let arguments = ["consult", "--personas", "stranger", "Shall we?"];
    let terminal = Terminal::start(&Conclave::new(), 50, Output::Terminal, &arguments);
    let (output, transcript) = terminal.end();
    output.ends_with(2);
    assert_eq!(transcript.too_wide(50), Vec::<String>::new());
    insta::assert_snapshot!(transcript.screen().contents());
}
