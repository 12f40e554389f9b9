//! Lists and tables on a terminal: nothing overflows, and no word is cut.

use std::collections::BTreeSet;

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal};
use crate::support::sample_events;
use crate::support::sample_screens::on_both;
use crate::support::saved::{complete_consultation, consultation_with};
use crate::support::screen::Screen;
use crate::terminal::ended;

/// Returns a home with some consultations of January 2026.
fn home_with_history() -> Conclave {
    let conclave = home();
    let question = "Should a team of four with three customers rewrite its scheduler, which works, in \
                    another language, or is it too early for that, given what we know today?";
    for (unique, at, question) in [
        ("01kea1aa", "2026-01-05T10:00:00Z", question),
        ("01kea2bb", "2026-01-09T10:00:00Z", "Which?"),
        ("01kea3cc", "2026-01-12T10:00:00Z", "One?\nTwo?"),
    ] {
        complete_consultation(unique, at, question).save(&conclave);
    }
    let (aborted, at) = (sample_events::aborted(), "2026-01-13T10:00:00Z");
    consultation_with(aborted, "01kea4dd", at, "Why?").save(&conclave);
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

/// Returns a home for runs on terminals.
fn home() -> Conclave {
    Conclave::new().variable("TERM", "xterm-256color")
}

fn screens(home: impl Fn() -> Conclave + Sync, arguments: &[&str]) -> String {
    on_both(|columns, colours| {
        let conclave = colours.apply(home());
        shown(&conclave, columns, arguments, |screen| colours.look(screen))
    })
}

#[test]
fn history_list_fits_the_terminal() {
    insta::assert_snapshot!(screens(home_with_history, &["history", "list"]));
}

#[test]
fn local_models_fit_the_terminal() {
    let all = screens(home, &["models", "list"]);
    if !cfg!(feature = "local") {
        insta::assert_snapshot!(all);
    }
}

#[test]
fn no_table_cuts_a_word() {
    let conclave = home_with_history();
    for arguments in [
        &["models"][..],
        &["personas"],
        &["models", "list"],
        &["config", "show"],
        &["history", "list"],
    ] {
        let wide = shown(&conclave, 400, arguments, Screen::history);
        let known: BTreeSet<&str> = wide.split_whitespace().collect();
        for columns in [50, 80] {
            let narrow = shown(&conclave, columns, arguments, Screen::history);
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
fn dry_run_fits_one_screen_and_has_the_prompts_if_asked() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("TERM", "xterm-256color");
    std::fs::write(conclave.folder().join("notes.md"), "AKIAIOSFODNN7EXAMPLE").unwrap();
    let ask = ["consult", "--dry-run", "-q", "-f", "notes.md", "Should we?"];
    let on = |columns, more: &[&str]| {
        let arguments = [&ask[..], more].concat();
        shown(&conclave, columns, &arguments, Screen::history)
    };
    let screen = on(80, &[]);
    let screen = screen.trim_end();
    assert!(screen.lines().count() < 24, "{screen}");
    let heads = "Who              Round      In      Out      Low  Expected     High";
    for part in [
        heads,
        "Masked   notes.md: 1 AWS key",
        "Context   notes.md: ",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(!screen.contains("User:"), "{screen}");
    for full in ["--full", "--no-pager"] {
        assert_eq!(
            on(200, &[full]).contains("User:"),
            full == "--full",
            "{full}"
        );
    }
    let known = on(400, &[]);
    let known: BTreeSet<&str> = known.split_whitespace().collect();
    for columns in [60, 70, 100, 200] {
        let screen = on(columns, &[]);
        let cut: Vec<&str> = screen
            .split_whitespace()
            .filter(|word| !known.contains(word))
            .collect();
        assert_eq!(cut, [""; 0], "{columns}: {screen}");
    }
}

#[test]
fn messages_are_wrapped_between_words() {
    let arguments = ["consult", "--personas", "stranger", "Shall we?"];
    let terminal = Terminal::start(&Conclave::new(), 50, Output::Terminal, &arguments);
    let transcript = ended(terminal, 2);
    assert_eq!(transcript.too_wide(50), Vec::<String>::new());
    insta::assert_snapshot!(transcript.screen().contents());
}
