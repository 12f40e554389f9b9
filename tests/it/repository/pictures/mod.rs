//! Makes the pictures of the README: `docs/run.svg`, the end of a run as a terminal shows it, and
//! `docs/page.png`, the page of the same consultation as a browser shows it.
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
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;
use crate::support::pty::{Output, Terminal};

use self::consultation::QUESTION;

/// The terminal of the picture.
const COLUMNS: u16 = 84;
const ROWS: u16 = 60;

/// Names of browsers that can take a picture of a page.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

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

    let page = conclave.folder().join("page.html");
    let html = conclave
        .run(&["history", "export", "last", "--format", "html"])
        .ends_with(0)
        .stdout;
    fs::write(&page, settle(&html)).unwrap();
    let browser = BROWSERS
        .into_iter()
        .find(|browser| photograph(browser, &page, &docs));
    let report = match browser {
        Some(_) => "docs/run.svg and docs/page.png are written",
        None => "docs/run.svg is written; docs/page.png needs Chromium, and there is none",
    };
    writeln!(std::io::stderr(), "{report}").unwrap();
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

/// Takes a picture of the page; returns false if there is no such browser.
fn photograph(browser: &str, page: &Path, docs: &Path) -> bool {
    let profile = tempfile::tempdir().unwrap();
    let taken = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--force-device-scale-factor=2",
            "--window-size=900,1000",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--screenshot={}", docs.join("page.png").display()))
        .arg(format!("file://{}", page.display()))
        .output();
    taken.is_ok_and(|output| output.status.success())
}
