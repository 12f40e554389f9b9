//! The menus of `history show` and `history rm`, and the bell at the end of a run.

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal, interrupts_are_ignored};
use crate::support::saved::complete_consultation;

const OLDER: &str = "01kea1aaaaaaaaaaaaaaaaaaaa";
const NEWER: &str = "01kea2bbbbbbbbbbbbbbbbbbbb";

fn two() -> Conclave {
    let conclave = Conclave::new().variable("TERM", "xterm-256color");
    let long = "Should a team of four with three customers rewrite its scheduler, which works, in \
                another language, or is it too early for that, given what we know today and later?";
    complete_consultation(OLDER, "2026-01-05T10:00:00Z", "Which?").save(&conclave);
    complete_consultation(NEWER, "2026-01-09T10:00:00Z", long).save(&conclave);
    conclave.run(&["history"]).ends_with(0);
    conclave
}

fn journals(conclave: &Conclave) -> usize {
    let logs = std::fs::read_dir(conclave.home().join("consult-logs")).unwrap();
    let paths = logs.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .count()
}

#[test]
fn show_without_an_id_offers_a_menu_that_fits_every_width() {
    let conclave = two();
    for columns in [50, 80, 120, 200] {
        let arguments = ["history", "show", "--no-pager"];
        let mut terminal = Terminal::start(&conclave, columns, Output::Terminal, &arguments);
        terminal.wait_for_sight("2026-01-05 10:00");
        terminal.look(|screen| {
            let menu = screen.contents();
            let lines = menu.lines().filter(|line| line.contains("2026-01-0"));
            assert_eq!(lines.count(), 2, "{menu}");
        });
        // Down, Enter.
        terminal.type_in("\u{1b}[B\r");
        let (output, transcript) = terminal.end();
        assert_eq!(output.code, Some(0), "{}", transcript.text());
        let text = transcript.text();
        assert!(text.contains("Which?"), "{text}");
        assert!(transcript.screen().is_cursor_visible());
    }
}

#[test]
fn esc_leaves_the_menus_and_deletes_nothing() {
    let conclave = two();
    for command in ["show", "rm"] {
        let mut terminal = Terminal::start(&conclave, 80, Output::Terminal, &["history", command]);
        terminal.wait_for_sight("2026-01-05 10:00");
        terminal.type_in("\u{1b}");
        let (output, transcript) = terminal.end();
        assert_eq!(output.code, Some(0), "{command}: {}", transcript.text());
        assert!(transcript.screen().is_cursor_visible(), "{command}");
    }
    assert_eq!(journals(&conclave), 2);
}

#[test]
fn ctrl_c_in_a_menu_restores_the_terminal() {
    if interrupts_are_ignored() {
        return;
    }
    let conclave = two();
    let mut terminal = Terminal::start(&conclave, 80, Output::Terminal, &["history", "rm"]);
    terminal.wait_for_sight("2026-01-05 10:00");
    terminal.type_in("\u{3}");
    let (output, transcript) = terminal.end();
    assert_eq!(output.code, Some(130), "{}", transcript.text());
    assert!(transcript.screen().is_cursor_visible());
    assert_eq!(journals(&conclave), 2);
}

#[test]
fn rm_without_an_id_deletes_what_is_ticked_after_asking() {
    let conclave = two();
    let mut terminal = Terminal::start(&conclave, 80, Output::Terminal, &["history", "rm"]);
    terminal.wait_for_sight("2026-01-05 10:00");
    terminal.type_in(" \r");
    terminal.wait_for_sight("Delete 1 consultation (2026-01-09)?");
    terminal.type_in("y\r");
    let (output, transcript) = terminal.end();
    assert_eq!(output.code, Some(0), "{}", transcript.text());
    let left = conclave.run(&["history", "--json"]).ends_with(0).json();
    assert_eq!(left["total"], 1);
    assert_eq!(
        left["consultations"][0]["consultation_id"],
        format!("consult-{OLDER}")
    );
}

#[test]
fn without_a_terminal_show_takes_the_last_and_rm_needs_an_id() {
    let conclave = two();
    let shown = conclave.run(&["history", "show"]).ends_with(0).stdout;
    assert!(shown.contains("rewrite its scheduler"), "{shown}");
    let refused = conclave.run(&["history", "rm"]).ends_with(2).stderr;
    assert!(refused.contains("hint: name ids"), "{refused}");
    assert_eq!(journals(&conclave), 2);
}

#[test]
fn end_is_notified_on_a_terminal_when_asked_for() {
    let notification = "\u{7}\u{1b}]9;conclave: answer ready\u{7}";
    let server = ProviderServer::start();
    let terminal = |arguments: &[&str]| {
        let conclave = Conclave::at(&server)
            .variable("TERM", "xterm-256color")
            .variable("CI", "1");
        let arguments = [&["consult", "Shall we?"], arguments].concat();
        let terminal = Terminal::start(&conclave, 80, Output::Terminal, &arguments);
        let (output, transcript) = terminal.end();
        assert_eq!(output.code, Some(0), "{}", transcript.text());
        transcript.written().matches(notification).count()
    };
    assert_eq!(terminal(&["--yes", "--notify"]), 1);
    assert_eq!(terminal(&["--yes"]), 0);
    let conclave = Conclave::at(&server).config(r#"{"notify": "on"}"#);
    let piped = conclave.run(&["consult", "Shall we?", "--notify"]);
    assert!(!piped.ends_with(0).stderr.contains('\u{7}'));
}
