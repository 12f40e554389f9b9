//! Makes the pictures of the README: `docs/run.svg`, the end of a run as a terminal shows it, and
//! `docs/view.png`, the page of the same consultation as `conclave view` shows it.
//!
//! The binary really runs; the experts' answers are invented and always the same, and so are the
//! seconds that they take. Only when asked:
//!
//! ```sh
//! cargo test --locked --test it pictures -- --ignored
//! ```

mod consultation;
mod svg;

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::binary::Conclave;
use crate::support::chromium::Chromium;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal};

use self::consultation::QUESTION;

/// The terminal of the picture.
const COLUMNS: u16 = 84;
const ROWS: u16 = 60;

/// The id of every picture's consultation.
const ID: &str = "consult-01k9w3v8";

/// The date of every picture's consultation.
const DATE: &str = "2026-11-22 09:30";

#[test]
#[ignore = "writes the pictures of the README, which takes half a minute"]
fn pictures_of_the_readme_are_made() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let server = ProviderServer::start();
    consultation::answer(&server);
    let conclave = Conclave::at(&server)
        .without("NO_COLOR")
        .variable("TERM", "xterm-256color")
        .without("CONCLAVE_DEBATE_ANALYSIS")
        .variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "1")
        .variable("CONCLAVE_EARLY_STOP", "never");
    let terminal = Terminal::start_sized(&conclave, (COLUMNS, ROWS), Output::Terminal, &[QUESTION]);
    let (ran, transcript) = terminal.end();
    ran.ends_with(0);
    let record = conclave.log("json");
    let id = record.file_stem().unwrap().to_str().unwrap();
    let command = format!("conclave \"{QUESTION}\"");
    let settle = |text: &str| settled(&text.replace(id, ID));
    let picture = svg::picture(transcript.screen().cells(), &command, settle);
    fs::write(docs.join("run.svg"), picture).unwrap();

    if let Some(mut browser) = Chromium::start() {
        let view = conclave.start(&["view", "--no-open"]);
        let entrance = view.first_line();
        let (origin, _) = entrance.split_once("/?").unwrap();
        browser.look_at((1100, 860), 1.5);
        browser.open(&entrance);
        browser.open(&format!("{origin}/c/{id}"));
        let main = browser.evaluate("document.querySelector('main').innerHTML");
        let main = json!(settle(main.as_str().unwrap()));
        browser.evaluate(&format!(
            "document.querySelector('main').innerHTML = {main}"
        ));
        browser.picture(&docs.join("view.png"), false);
    }
}

/// Returns the text without what differs from run to run: tenths of seconds, and the date.
fn settled(text: &str) -> String {
    let mut settled = text.to_owned();
    for (at, _) in text.match_indices('.') {
        let is_digit = |at: Option<usize>| {
            at.and_then(|at| text.as_bytes().get(at))
                .is_some_and(u8::is_ascii_digit)
        };
        let unit = text.get(at + 2..).unwrap_or_default();
        let is_time = unit.starts_with('s') || unit.starts_with(" s ");
        if is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)) && is_time {
            settled.replace_range(at + 1..at + 2, "0");
        }
    }
    let dates: Vec<usize> = settled.match_indices(" UTC").map(|(at, _)| at).collect();
    for end in dates {
        if let Some(start) = end.checked_sub(DATE.len()) {
            settled.replace_range(start..end, DATE);
        }
    }
    settled
}
