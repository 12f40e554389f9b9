//! Text from outside never acts on a terminal: models, servers, files, variables and arguments put
//! control characters wherever they can, and only the program's own sequences come out.
//!
//! Each run has pipes, or a terminal with colours, or is made with both. The seeds are fixed.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use fastrand::Rng;
use serde_json::{Value, json};

use crate::support::binary::Conclave;
use crate::support::local_server::LocalServer;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor, valid_answer};
use crate::support::pty::{Output, Terminal};
use crate::support::saved::{complete_consultation, log_folder};

/// Pieces of text that act on a terminal, that change the order of reading, that pass for other
/// lines, or that end the strings around them.
const PIECES: [&str; 24] = [
    "\u{1b}[2J",
    "\u{1b}]52;c;ZXZpbA==\u{7}",
    "\u{1b}[8m",
    "\u{1b}[1;31m",
    "\u{1b}[?1049h",
    "\u{1b}c",
    "\u{9b}2J",
    "\u{9d}52;c;ZXZpbA==\u{9c}",
    "\u{7f}",
    "\u{8}\u{8}",
    "\u{1b}",
    "\r",
    "\u{202e}",
    "\u{2066}",
    "\u{200f}",
    "\u{61c}",
    "\u{2028}",
    "\u{85}",
    "\u{b}",
    "\nhint: run `evil`",
    "plain text",
    "é漢 😀",
    "\"'\\",
    "![](http://evil/x.png)<img src=x>[y](javascript:z)",
];

/// The sequences that styles, the live display and its clearing consist of.
const STYLES: [&str; 9] = ["0", "1", "2", "3", "4", "31", "32", "33", "36"];

/// Returns a text of several pieces, and of any control characters but NUL.
fn outside(random: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..random.usize(2..6) {
        text.push_str(random.choice(PIECES).unwrap());
        text.push(random.char('\u{1}'..'\u{a0}'));
    }
    text
}

/// Returns the same as a name, on one line and without what paths or lists cannot hold.
fn outside_name(random: &mut Rng) -> String {
    outside(random).replace(['/', ',', '\n'], "")
}

/// Appends text from outside to about a third of the free texts: words of the format and times stay
/// readable.
fn spoil(value: &mut Value, random: &mut Rng) {
    let is_free = |text: &str| {
        text.contains([' ', ':', '-']) && !text.starts_with(|c: char| c.is_ascii_digit())
            || text.starts_with(char::is_uppercase)
    };
    match value {
        Value::String(text) if is_free(text) && random.u8(0..3) == 0 => {
            text.push_str(&outside(random));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, random)),
        Value::Object(fields) => fields.values_mut().for_each(|field| spoil(field, random)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A home for runs with colours where there is a terminal.
fn coloured(conclave: Conclave) -> Conclave {
    conclave
        .without("NO_COLOR")
        .variable("TERM", "xterm-256color")
}

/// Runs with pipes and on a terminal, and checks all that is written.
fn check(conclave: &Conclave, arguments: &[&str]) {
    check_piped(conclave, arguments);
    check_on_terminal(conclave, arguments);
}

fn check_piped(conclave: &Conclave, arguments: &[&str]) {
    let ran = conclave.run(arguments);
    assert_harmless(arguments, &ran.stdout);
    assert_harmless(arguments, &ran.stderr);
    assert_no_false_hint(arguments, &ran.stderr);
}

fn check_on_terminal(conclave: &Conclave, arguments: &[&str]) {
    let (_, screen) = Terminal::start(conclave, 90, Output::Terminal, arguments).end();
    assert_harmless(arguments, &without_own_sequences(screen.written()));
}

/// Checks that no character can act on a terminal or change the order of reading.
fn assert_harmless(arguments: &[&str], written: &str) {
    let acts = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(
                c,
                '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            )
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if let Some(line) = written.split('\n').find(|line| line.contains(acts)) {
        panic!("{arguments:?} wrote {line:?}");
    }
}

fn assert_no_false_hint(arguments: &[&str], stderr: &str) {
    let mut lines = stderr.lines();
    let is_false = |line: &str| line.starts_with("hint: run `evil`");
    assert!(!lines.any(is_false), "{arguments:?} wrote {stderr}");
}

/// The cursor, wrapping and synchronized updates.
const MODES: [&str; 3] = ["?25", "?7", "?2026"];

/// Removes the styles, the movements of the live display, and the terminal's own carriage returns.
fn without_own_sequences(written: &str) -> String {
    let mut rest = written;
    let mut other = String::new();
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        other.push_str(before);
        let end = sequence
            .find(|c: char| !c.is_ascii_digit() && c != '?')
            .unwrap_or(0);
        let (number, after) = sequence.split_at(end);
        let is_own = match after.chars().next() {
            Some('m') => STYLES.contains(&number),
            Some('A' | 'B') => !number.is_empty(),
            Some('J') => number.is_empty(),
            Some('K') => true,
            Some('h' | 'l') => MODES.contains(&number),
            _ => false,
        };
        if is_own {
            rest = &after[1..];
        } else {
            other.push_str("\u{1b}[");
            rest = sequence;
        }
    }
    other.push_str(rest);
    other.replace('\r', "")
}

#[test]
fn arguments_and_variables_reach_the_screen_as_text() {
    let mut random = Rng::with_seed(1);
    let conclave = coloured(Conclave::new());
    for arguments in [
        &["consult", "--rounds"][..],
        &["consult", "Shall we?", "--judge"],
        &["consult", "Shall we?", "--panel"],
        &["consult", "Shall we?", "--personas"],
        &["consult", "Shall we?", "-o"],
        &["history", "show"],
        &["history", "--search"],
        &["resume"],
        &["personas", "show"],
        &["config", "get"],
        &["config", "set", "judge"],
        &["completions"],
        &[],
    ] {
        let text = outside(&mut random);
        check_piped(&conclave, &[arguments, &[text.as_str()]].concat());
    }
    check_on_terminal(&conclave, &["resume", &outside(&mut random)]);
    let server = ProviderServer::start();
    let dry = coloured(Conclave::at(&server));
    let question = outside(&mut random);
    check_piped(&dry, &["consult", "--dry-run", "--json", &question]);
    check(&dry, &["consult", "--dry-run", &question]);
    for name in [
        "CONCLAVE_PANEL",
        "CONCLAVE_JUDGE",
        "CONCLAVE_MAX_COST",
        "CONCLAVE_LOCAL_SERVERS",
        "OPENAI_BASE_URL",
    ] {
        let conclave = coloured(Conclave::at(&server)).variable(name, outside(&mut random));
        check_piped(&conclave, &["consult", "-n", "--dry-run", "Shall we?"]);
        check_on_terminal(&conclave, &["config", "show"]);
    }
    let mut bytes = b"\xff\x9b".to_vec();
    bytes.extend(outside(&mut random).into_bytes());
    let invalid = coloured(Conclave::new()).variable("CONCLAVE_PANEL", OsString::from_vec(bytes));
    check(&invalid, &["consult", "Shall we?"]);
}

#[test]
fn path_of_the_home_reaches_the_screen_as_text() {
    let mut random = Rng::with_seed(2);
    let server = ProviderServer::start();
    for name in ["CONCLAVE_HOME", "HOME"] {
        let conclave = Conclave::at(&server);
        let folder = conclave.folder().join(outside_name(&mut random));
        let conclave = coloured(conclave.without("CONCLAVE_HOME")).variable(name, folder);
        for arguments in [
            &["config", "path"][..],
            &["config", "set", "judge", "openai:m"],
            &["history", "show", "consult-9"],
        ] {
            check_piped(&conclave, arguments);
        }
        check(&conclave, &["consult", "-y", "--verbose", "Shall we?"]);
        for arguments in [&["config", "show"][..], &["doctor"]] {
            check_on_terminal(&conclave, arguments);
        }
    }
}

#[test]
fn models_of_a_local_server_reach_the_screen_as_text() {
    let mut random = Rng::with_seed(3);
    let behind = ProviderServer::start();
    for _ in 0..2 {
        let model = outside(&mut random);
        let server = LocalServer::llama_cpp(&model, 7_615_616_512, 8_192).before(&behind);
        let conclave =
            coloured(Conclave::new()).variable("CONCLAVE_LOCAL_SERVERS", server.authority());
        check_piped(&conclave, &["models", "--json"]);
        check_on_terminal(&conclave, &["doctor"]);
        for arguments in [&["models"][..], &["consult", "-yv", "Shall we?"]] {
            check(&conclave, arguments);
        }
        let list = conclave.run(&["models", "--json"]).json();
        let listed = list["local_servers"][0]["models"][0]["id"].as_str();
        assert_eq!(listed, Some(model.as_str()), "{}", list["local_servers"]);
    }
}

#[test]
fn errors_of_a_server_reach_the_screen_as_text() {
    let mut random = Rng::with_seed(4);
    // Other failures are repeated after a pause.
    for status in [400, 401, 403] {
        let server = ProviderServer::start();
        let message = outside(&mut random);
        let answers = [
            Answer::error(status, &outside(&mut random), &message),
            Answer::http(status, "text/plain", message.clone()),
            Answer::http(status, "text/html", format!("<title>{message}</title>"))
                .header("x-request-id", "\u{9b}2J\u{85}"),
        ];
        for (vendor, answer) in [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google]
            .into_iter()
            .zip(answers)
        {
            server.on(On::vendor(vendor), answer.clone());
            server.on_free(On::vendor(vendor), answer);
        }
        let conclave = coloured(Conclave::at(&server));
        check_piped(&conclave, &["doctor"]);
        check(
            &conclave,
            &["consult", "-y", "--on-failure", "skip", "Shall we?"],
        );
    }
}

#[test]
fn question_about_a_fallback_shows_the_failure_as_text() {
    let mut random = Rng::with_seed(13);
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::Google),
        Answer::error(400, "x", &outside(&mut random)),
    );
    let conclave = coloured(Conclave::at(&server)).variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "90");
    let arguments = ["consult", "Shall we?"];
    let mut terminal = Terminal::start(&conclave, 90, Output::Terminal, &arguments);
    terminal.wait_for("[Y/n/f = end] ", 1);
    terminal.type_in("f");
    let (_, screen) = terminal.end();
    assert_harmless(&arguments, &without_own_sequences(screen.written()));
}

#[test]
fn answers_of_models_reach_the_screen_as_text() {
    let mut random = Rng::with_seed(5);
    let server = ProviderServer::start();
    for (field, vendor) in [
        ("position", Vendor::Anthropic),
        ("position", Vendor::OpenAi),
        ("consensus_points", Vendor::OpenAi),
        ("revised_position", Vendor::Anthropic),
        ("revised_position", Vendor::Google),
        ("unresolved", Vendor::OpenAi),
        ("recommendation", Vendor::OpenAi),
    ] {
        let asked = json!({"format": {"properties": {field: {}}}});
        let mut answer: Value = serde_json::from_str(&valid_answer(&asked, "m")).unwrap();
        if field == "revised_position" {
            answer["changed"] = true.into();
            answer["because_of"] = json!([{"agent": "Expert B", "argument": "It is a risk."}]);
        }
        spoil(&mut answer, &mut random);
        server.on(
            On::asking_for(field).and_vendor(vendor),
            Answer::text(answer.to_string()).served(&outside(&mut random)),
        );
    }
    let conclave = coloured(Conclave::at(&server));
    let question = outside(&mut random);
    for arguments in [
        &["consult", "-y", "--stream", "--verbose", &question][..],
        &["history"],
        &["history", "show", "last"],
        &["history", "rejudge", "last", "-y"],
        &["consult-stats"],
    ] {
        check(&conclave, arguments);
    }
    for arguments in [
        &[
            "consult", "-y", "--events", "-", "--format", "both", &question,
        ][..],
        &["history", "--json"],
        &["history", "show", "last", "--format", "json"],
        &["history", "export", "last", "--format", "html"],
    ] {
        check_piped(&conclave, arguments);
    }
    for entry in std::fs::read_dir(log_folder(&conclave)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "md") {
            assert_harmless(&["saved"], &std::fs::read_to_string(path).unwrap());
        }
    }
    let shown = conclave.run(&["history", "show", "last", "--format", "json"]);
    let id = shown.json()["consultation_id"].as_str().unwrap().to_owned();
    let stored = log_folder(&conclave).join(format!("{id}.json"));
    assert_eq!(std::fs::read_to_string(stored).unwrap(), shown.stdout);
}

#[test]
fn records_and_journals_reach_the_screen_as_text() {
    let server = ProviderServer::start();
    for seed in 6..8 {
        let mut random = Rng::with_seed(seed);
        let conclave = coloured(Conclave::at(&server));
        let saved = complete_consultation("aaaa", "2026-03-01T10:00:00Z", "Shall we?");
        let files = saved.save(&conclave);
        spoil_lines(&files.journal, &mut random);
        spoil_file(&files.record, &mut random);
        let stray = format!("consult-{}.json", outside_name(&mut random));
        std::fs::copy(&files.record, log_folder(&conclave).join(stray)).unwrap();
        for arguments in [
            &["history"][..],
            &["history", "show", "aaaa"],
            &["history", "rejudge", "aaaa", "-y"],
            &["consult-stats", "--rebuild-index"],
            &["consult-stats"],
        ] {
            check(&conclave, arguments);
        }
        for arguments in [
            &["history", "--json"][..],
            &["history", "show", "aaaa", "--agent", "x"],
            &["history", "show", "last", "--format", "json"],
            &["history", "export", "aaaa", "--format", "md"],
            &["history", "export", "aaaa", "--format", "html"],
            &["consult-stats", "--json"],
            &["resume", "aaaa"],
            &["history", "rm", "aaaa", "--yes"],
        ] {
            check_piped(&conclave, arguments);
        }
    }
}

#[test]
fn resumed_journals_reach_the_screen_as_text() {
    let server = ProviderServer::start();
    for seed in 9..11 {
        let mut random = Rng::with_seed(seed);
        let conclave = coloured(Conclave::at(&server));
        let mut saved = complete_consultation("bbbb", "2026-03-01T10:00:00Z", "Shall we?");
        saved.events.truncate(20);
        let files = saved.save_journal(&conclave);
        spoil_lines(&files.journal, &mut random);
        check(&conclave, &["resume", "bbbb", "-y", "--on-failure", "skip"]);
        check(&conclave, &["history", "show", "bbbb"]);
    }
}

fn spoil_file(path: &Path, random: &mut Rng) {
    let mut value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    spoil(&mut value, random);
    std::fs::write(path, value.to_string()).unwrap();
}

/// Spoils the texts in the payload of some lines.
fn spoil_lines(path: &Path, random: &mut Rng) {
    let mut journal = String::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        if random.u8(0..3) == 0 {
            spoil(&mut value["data"], random);
        }
        journal.push_str(&(value.to_string() + "\n"));
    }
    std::fs::write(path, journal).unwrap();
}

#[test]
fn settings_and_model_lists_reach_the_screen_as_text() {
    let mut random = Rng::with_seed(12);
    let home = |conclave: &Conclave, file: &str, text: &str| {
        std::fs::create_dir_all(conclave.home()).unwrap();
        std::fs::write(conclave.home().join(file), text).unwrap();
    };
    let text = outside(&mut random);
    for settings in [
        json!({text.as_str(): 1}),
        json!({"judge": text}),
        json!({"panel": [text]}),
        json!({"endpoints": {text.as_str(): {"base_url": text}}}),
        json!({"endpoints": {"work": {"base_url": text, "api_key_env": text}}}),
        json!({"panels": {text.as_str(): {"seats": [text]}}}),
        json!({"personas": {text.as_str(): {"name": text, "prompt": text}}}),
        json!({"personas": {"mine": {"name": text, "prompt": text, "brief": text}}}),
    ] {
        let conclave = coloured(Conclave::new());
        home(&conclave, "config.json", &settings.to_string());
        check_on_terminal(&conclave, &["config", "show"]);
        check_on_terminal(&conclave, &["personas", "show", "mine"]);
        check_piped(&conclave, &["config", "show", "--json"]);
        check_piped(&conclave, &["consult", "-y", "Shall we?"]);
    }
    for models in [
        json!({"models": [{"provider": text, "id": "m", "tier": 1}]}),
        json!({"models": [{"provider": "openai", "id": text, "tier": 1}]}),
        json!({"models": [{"provider": "openai", "id": "m", text.as_str(): text}]}),
        json!({"schema_version": text}),
        json!(text),
    ] {
        let conclave = coloured(Conclave::new());
        home(&conclave, "models.json", &models.to_string());
        check_on_terminal(&conclave, &["models"]);
        check_piped(&conclave, &["models", "--json"]);
    }
}
