//! `conclave setup` on a real terminal: what is shown, what is written, and every way to leave.

mod offer;

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::binary::Conclave;
use crate::support::local_server::LocalServer;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::sample_screens::on_both;
use crate::terminal::ended;

/// The questions in their order, for a dialogue that accepts every default of a new home.
const QUESTIONS: [&str; 3] = [
    "? Spend without asking, in dollars",
    "? Spend in a month, in dollars",
    "Write them? [Y/n]",
];

const ENTER: &str = "\r";
const ESC: &str = "\u{1b}";

fn start(conclave: &Conclave, columns: u16) -> Terminal {
    Terminal::start_sized(conclave, (columns, 60), Output::Terminal, &["setup"])
}

/// Waits for a question and answers it.
fn answer(terminal: &mut Terminal, question: &str, keys: &[&str]) {
    terminal.wait_for_sight(question);
    for key in keys {
        terminal.type_in(key);
    }
}

fn accept_defaults(terminal: &mut Terminal) {
    for question in QUESTIONS {
        answer(terminal, question, &[ENTER]);
    }
}

fn config(conclave: &Conclave) -> String {
    fs::read_to_string(conclave.home().join("config.json")).unwrap()
}

fn settings(conclave: &Conclave) -> Value {
    serde_json::from_str(&config(conclave)).unwrap()
}

fn is_untouched(conclave: &Conclave) -> bool {
    !conclave.home().exists()
}

/// Returns the screens of a dialogue by default, without what differs from run to run.
fn screens(server: &ProviderServer) -> String {
    let text = on_both(|columns, colours| {
        // The path of the home is the same on every machine.
        let conclave = colours
            .apply(Conclave::at(server))
            .variable("CONCLAVE_HOME", "home");
        let mut terminal = start(&conclave, columns);
        terminal.wait_for_sight("Which panel? [A/k/l]");
        let menu = terminal.look(|screen| colours.look(screen));
        terminal.type_in(ENTER);
        accept_defaults(&mut terminal);
        let transcript = ended(terminal, 0);
        let end = colours.look(transcript.screen());
        let after_menu = end.split("Which panel?").nth(1).unwrap_or_default();
        format!("{menu}\n…\n{after_menu}")
    });
    text.replace(&server.address().port().to_string(), "55555")
}

#[test]
fn setup_screens_match_the_snapshots() {
    let server = ProviderServer::start();
    server.on_free(On::vendor(Vendor::OpenAi), refused_key());
    insta::assert_snapshot!(screens(&server));
}

fn refused_key() -> Answer {
    Answer::error(401, "invalid_api_key", "Incorrect API key provided")
}

#[test]
fn a_dialogue_of_defaults_writes_the_lines_it_shows() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("TERM", "xterm");
    let mut terminal = start(&conclave, 100);
    accept_defaults(&mut terminal);
    let (ran, transcript) = terminal.end();
    assert_eq!(ran.ends_with(0).stdout, "", "nothing but the screen");
    assert!(
        transcript
            .screen()
            .contents()
            .contains("+ \"always_allow_under\": 0.5\n"),
        "{transcript:?}"
    );
    assert_eq!(config(&conclave), "{\n  \"always_allow_under\": 0.5\n}\n");
    assert!(transcript.has_restored_modes());
    assert!(transcript.screen().is_cursor_visible());
    assert!(server.requests().is_empty(), "no paid call");
}

#[test]
fn amounts_are_read_again_until_they_are_amounts() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("TERM", "xterm");
    let mut terminal = start(&conclave, 100);
    answer(&mut terminal, QUESTIONS[0], &["a lot", ENTER]);
    terminal.wait_for_sight("The amount must be an amount in dollars");
    terminal.type_in("0\r");
    answer(
        &mut terminal,
        QUESTIONS[1],
        &["\u{7f}\u{7f}\u{7f}\u{7f}125\u{7f}.50\r"],
    );
    answer(&mut terminal, QUESTIONS[2], &["y"]);
    terminal.end().0.ends_with(0);
    let settings = settings(&conclave);
    assert_eq!(settings["always_allow_under"], json!(0));
    assert_eq!(settings["monthly_budget"], json!(12.5));
}

#[test]
fn a_repeated_dialogue_keeps_what_was_set() {
    let server = ProviderServer::start();
    let written = "{\n    \"judge\": \"openai:gpt-6.1-sol\",\n    \"alwaysAllowUnder\" : 0.30,\n    \
                   \"monthly_budget\": 7, \"rounds\": 2,\n    \"panel\": \
                   \"security=google:gemini-4-argon\"\n}";
    let conclave = Conclave::at(&server)
        .variable("TERM", "xterm")
        .config(written);
    let mut terminal = start(&conclave, 100);
    for question in ["Which panel?", "Which judge?", QUESTIONS[0], QUESTIONS[1]] {
        answer(&mut terminal, question, &[ENTER]);
    }
    let transcript = ended(terminal, 0);
    let screen = transcript.screen().contents();
    assert!(
        screen.contains("Which panel? [P/k/l] present\n"),
        "{screen}"
    );
    assert!(screen.contains("Which judge? [K/s/l] keep\n"), "{screen}");
    assert!(screen.contains("Nothing to change"), "{screen}");
    assert_eq!(config(&conclave), written);
}

#[test]
fn one_changed_answer_leaves_the_other_lines_as_written() {
    let server = ProviderServer::start();
    let written = "{\n\t\"rounds\" :2,\n\t\"judge\": \"openai:gpt-6.1-sol\",\n\t\
                   \"alwaysAllowUnder\": 0.50\n}\n";
    let conclave = Conclave::at(&server)
        .variable("TERM", "xterm")
        .config(written);
    let mut terminal = start(&conclave, 100);
    answer(&mut terminal, "Which judge?", &["s"]);
    answer(&mut terminal, QUESTIONS[0], &["\u{7f}\u{7f}\u{7f}1", ENTER]);
    answer(&mut terminal, QUESTIONS[1], &[ENTER]);
    answer(&mut terminal, QUESTIONS[2], &[ENTER]);
    let transcript = ended(terminal, 0);
    let screen = transcript.screen().contents();
    assert!(screen.contains("  - \"judge\"\n"), "{screen}");
    assert!(
        screen.contains("  + \"always_allow_under\": 1\n"),
        "{screen}"
    );
    assert_eq!(
        config(&conclave),
        "{\n\t\"rounds\" :2,\n\t\"alwaysAllowUnder\": 1\n}\n"
    );
}

#[test]
fn ctrl_c_at_a_question_writes_nothing() {
    let server = ProviderServer::start();
    for open in [0, 2] {
        let conclave = Conclave::at(&server).variable("TERM", "xterm");
        let mut terminal = start(&conclave, 100);
        for question in &QUESTIONS[..open] {
            answer(&mut terminal, question, &[ENTER]);
        }
        answer(&mut terminal, QUESTIONS[open], &["\u{3}"]);
        let transcript = ended(terminal, 130);
        let screen = transcript.screen().contents();
        assert!(
            screen.contains("\nInterrupted; nothing was written"),
            "{screen}"
        );
        assert!(transcript.screen().is_cursor_visible());
        assert!(transcript.has_restored_modes());
        assert!(is_untouched(&conclave), "{}", QUESTIONS[open]);
    }
}

#[test]
fn sigterm_at_a_question_restores_the_terminal() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("TERM", "xterm");
    let terminal = start(&conclave, 100);
    terminal.wait_for_sight(QUESTIONS[0]);
    terminal.signal(Signal::TERM);
    let transcript = ended(terminal, 130);
    assert!(transcript.screen().is_cursor_visible());
    assert!(transcript.has_restored_modes());
    assert!(is_untouched(&conclave));
}

#[test]
fn esc_and_no_leave_setup_with_nothing_written() {
    let server = ProviderServer::start();
    // An edited line is left too.
    for (open, keys, shown) in [
        (0, "1", ": 0.51"),
        (1, "", QUESTIONS[1]),
        (2, "", QUESTIONS[2]),
    ] {
        let conclave = Conclave::at(&server).variable("TERM", "xterm");
        let mut terminal = start(&conclave, 100);
        for question in &QUESTIONS[..open] {
            answer(&mut terminal, question, &[ENTER]);
        }
        answer(&mut terminal, QUESTIONS[open], &[keys]);
        answer(&mut terminal, shown, &[if open == 2 { "n" } else { ESC }]);
        let transcript = ended(terminal, 3);
        let text = transcript.text();
        let error = "Setup was left; nothing was written";
        assert!(text.contains(error), "{text}");
        assert!(transcript.screen().is_cursor_visible());
        assert!(is_untouched(&conclave), "{}", QUESTIONS[open]);
    }
}

#[test]
fn vendors_that_do_not_answer_are_left_out_and_no_key_is_shown() {
    let server = ProviderServer::start();
    server.on_free(On::vendor(Vendor::OpenAi), refused_key());
    let conclave = Conclave::at(&server)
        .variable("TERM", "xterm")
        .variable("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9");
    let mut terminal = start(&conclave, 100);
    answer(&mut terminal, "Which panel?", &[ENTER]);
    accept_defaults(&mut terminal);
    let transcript = ended(terminal, 0);
    let screen = transcript.screen().contents();
    for words in [
        "✗ OpenAI",
        "the key was refused",
        "✗ Google",
        "Which panel? [A/k/l] answering\n",
    ] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    assert!(
        screen.contains("✓ Anthropic") || screen.contains("! Anthropic"),
        "{screen}"
    );
    let panel = settings(&conclave)["panel"].to_string();
    assert_eq!(panel.matches("=anthropic:").count(), 3, "{panel}");
    let config = config(&conclave);
    for vendor in Vendor::CLOUD {
        let key = vendor.key();
        assert!(!transcript.written().contains(&key), "{vendor:?}");
        assert!(!config.contains(&key), "{vendor:?}");
    }
}

#[test]
fn a_local_server_fills_the_panel_without_a_key() {
    let server = LocalServer::llama_cpp("m-7b", 7_615_616_512, 8_192);
    let conclave = Conclave::new()
        .variable("TERM", "xterm")
        .variable("CONCLAVE_LOCAL_SERVERS", server.authority());
    let mut terminal = start(&conclave, 100);
    accept_defaults(&mut terminal);
    let transcript = ended(terminal, 0);
    let screen = transcript.screen().contents();
    assert!(
        screen.contains(&format!("at {}: m-7b\n", server.authority())),
        "{screen}"
    );
    assert!(screen.contains("security      llamacpp:m-7b\n"), "{screen}");
    assert_eq!(settings(&conclave), json!({"always_allow_under": 0.5}));
}

#[test]
fn without_a_key_or_server_setup_says_what_to_set() {
    let conclave = Conclave::new().variable("TERM", "xterm");
    let transcript = ended(start(&conclave, 100), 1);
    let text = transcript.text();
    assert!(text.contains("error: no model can be asked yet"), "{text}");
    assert!(
        text.contains("hint: set a key, such as `export ANTHROPIC_API_KEY=…`"),
        "{text}"
    );
    assert!(is_untouched(&conclave));
}

#[test]
fn dumb_terminal_shows_each_change_of_a_line_on_a_line_of_its_own() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("TERM", "dumb");
    let mut terminal = start(&conclave, 100);
    answer(&mut terminal, QUESTIONS[0], &["1", ENTER]);
    answer(&mut terminal, QUESTIONS[1], &[ENTER]);
    answer(&mut terminal, QUESTIONS[2], &[ENTER]);
    let transcript = ended(terminal, 0);
    let screen = transcript.screen().contents();
    assert!(screen.contains(": 0.5▏\n? Spend"), "{screen}");
    assert!(screen.contains(": 0.51▏\n? Spend"), "{screen}");
    assert_eq!(settings(&conclave)["always_allow_under"], json!(0.51));
}

#[test]
fn leaving_a_choice_writes_nothing() {
    let server = ProviderServer::start();
    server.on_free(On::vendor(Vendor::OpenAi), refused_key());
    for key in [ESC, "l"] {
        let conclave = Conclave::at(&server).variable("TERM", "xterm");
        let mut terminal = start(&conclave, 100);
        answer(&mut terminal, "Which panel?", &[key]);
        terminal.end().0.ends_with(3);
        assert!(is_untouched(&conclave), "{key:?}");
    }
}

#[test]
fn without_a_terminal_setup_points_to_config_set() {
    let conclave = Conclave::new();
    let ran = conclave.run(&["setup"]).ends_with(2);
    ran.assert_stderr_contains("there is no terminal to ask on");
    ran.assert_stderr_contains("`conclave config set`");
}

#[test]
fn a_broken_settings_file_is_reported_before_any_question() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server)
        .variable("TERM", "xterm")
        .config("{\"judge\": ");
    let transcript = ended(start(&conclave, 100), 2);
    assert!(transcript.text().contains("is not JSON"), "{transcript:?}");
    assert_eq!(config(&conclave), "{\"judge\": ");
    assert!(server.free_requests().is_empty());
}
