//! The pages of `conclave view` in a real browser, at the widths of a phone, a tablet and a desk, in
//! both schemes and on paper. `.ci/run browser` runs these tests; without Chromium they are skipped.
//! With `CONCLAVE_PICTURES=FOLDER`, they leave pictures of all pages there.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::binary::RunningProcess;
use crate::support::chromium::{Chromium, variable};
use crate::support::filled_home::FilledHome;
use crate::support::provider_server::{Answer, Hold, On, Vendor};

/// A phone, a tablet and a desk.
const SCREENS: [(u32, u32); 3] = [(390, 844), (768, 1024), (1440, 900)];

/// About the width of paper.
const PAPER: u32 = 768;

/// A browser in the pages of a home.
struct Visit {
    home: FilledHome,
    browser: Chromium,
    /// `http://127.0.0.1:PORT`.
    origin: String,
    _server: RunningProcess,
}

impl Visit {
    /// `None` without a browser.
    fn begin() -> Option<Self> {
        let mut browser = Chromium::start()?;
        let home = FilledHome::fill();
        let server = home.conclave.start(&["view", "--no-open"]);
        let entrance = server.first_line();
        browser.look_at((1440, 900), 1.0);
        browser.open(&entrance);
        let (origin, _) = entrance.split_once("/?").unwrap();
        Some(Self {
            home,
            browser,
            origin: origin.to_owned(),
            _server: server,
        })
    }

    fn open(&mut self, path: &str) {
        self.browser.open(&format!("{}{path}", self.origin));
    }

    /// Returns where the first link of a list leads.
    fn link(&mut self, list: &str, selector: &str) -> String {
        self.open(list);
        let link = format!("document.querySelector('{selector}').getAttribute('href')");
        self.browser.evaluate(&link).as_str().unwrap().to_owned()
    }

    /// Returns errors that the pages wrote since the last look, and requests to others than their
    /// server.
    fn complaints(&mut self) -> Vec<String> {
        let complaint = |event: Value| {
            let of = &event["params"];
            let url = of["request"]["url"].as_str().unwrap_or_default();
            let is_wrong = match event["method"].as_str().unwrap() {
                "Runtime.exceptionThrown" => true,
                "Runtime.consoleAPICalled" => of["type"] == "error" || of["type"] == "warning",
                "Log.entryAdded" => of["entry"]["level"] == "error",
                // Chromium draws fields with pictures of its own.
                "Network.requestWillBeSent" => {
                    !url.starts_with(&self.origin) && !url.starts_with("data:")
                }
                _ => false,
            };
            is_wrong.then(|| of.to_string())
        };
        self.browser
            .told()
            .into_iter()
            .filter_map(complaint)
            .collect()
    }

    /// Returns the addresses of all kinds of pages, each with its name.
    fn pages(&mut self) -> Vec<(String, String)> {
        let run = self.link("/benchmarks", "tbody th a");
        let runs = self.link("/benchmarks", "td a");
        let document = self.link("/refinements", "tbody th a");
        let first = format!("/c/{}", self.home.first);
        let pages = [
            ("list", "/"),
            ("search", "/?q=repository"),
            ("nothing", "/?q=nowhere-to-be-found"),
            ("consultation", &first),
            ("statistics", "/statistics"),
            ("month", "/statistics?range=month"),
            ("benchmarks", "/benchmarks"),
            ("benchmark", &run),
            ("two-runs", &runs),
            ("refinements", "/refinements"),
            ("refinement", &document),
            ("none", "/no-such-page"),
        ];
        let pages = pages.map(|(name, path)| (name.to_owned(), path.to_owned()));
        let others = self.home.others.iter().enumerate().flat_map(|(at, id)| {
            let compared = format!("/compare?a={}&b={id}", self.home.first);
            [
                (format!("consultation-{at}"), format!("/c/{id}")),
                (format!("compare-{at}"), compared),
            ]
        });
        pages.into_iter().chain(others).collect()
    }
}

#[test]
#[ignore = "needs Chromium: `.ci/run browser`"]
fn every_page_reads_well_on_every_screen_and_on_paper() {
    let Some(mut visit) = Visit::begin() else {
        return;
    };
    let folder = variable("CONCLAVE_PICTURES").map(PathBuf::from);
    let pages = visit.pages();
    let mut wrong = visit.complaints();
    for (name, path) in pages {
        visit.open(&path);
        for (width, height) in SCREENS {
            visit.browser.look_at((width, height), 1.0);
            for (media, scheme) in [("", "light"), ("", "dark"), ("print", "light")] {
                if media == "print" && width != PAPER {
                    continue;
                }
                visit.browser.show_as(media, scheme);
                let found = visit.browser.evaluate(include_str!("look.js"));
                let found = found.as_array().unwrap().iter();
                wrong.extend(found.map(|it| format!("{name}, {width}, {media} {scheme}: {it}")));
                if let (Some(folder), "") = (&folder, media) {
                    let picture = format!("{name}-{width}-{scheme}.png");
                    visit.browser.picture(&folder.join(picture), true);
                }
            }
        }
        // The page that is not there is an error to the browser.
        let mut complaints = visit.complaints();
        complaints.retain(|it| name != "none" || !it.contains("404"));
        wrong.extend(complaints.iter().map(|it| format!("{name}: {it}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs Chromium: `.ci/run browser`"]
fn a_consultation_is_followed_live_from_start_to_end() {
    let Some(mut visit) = Visit::begin() else {
        return;
    };
    let hold = Hold::new();
    let asked = On::vendor(Vendor::OpenAi).and_containing("Which cache");
    visit
        .home
        .providers
        .on(asked, Answer::valid().held_by(&hold));
    let words = ["consult", "Which cache do we take?", "--yes"];
    let asking = visit.home.conclave.start(&words);
    let browser = &mut visit.browser;
    let row = "[...document.links].find((link) => link.textContent.includes('Which cache'))";
    browser.wait_until(row);
    let address = browser.evaluate(&format!("{row}.href"));
    browser.open(address.as_str().unwrap());
    browser.evaluate("window.loaded = 'once'");
    browser.wait_until("document.body.innerText.includes('waiting for the first token')");
    hold.release();
    browser
        .wait_until("document.querySelector('section.answer')?.innerText.includes('Start small')");
    asking.wait().ends_with(0);
    browser.wait_until("document.querySelector('main').dataset.live === undefined");
    let loaded = browser.evaluate("window.loaded");
    assert_eq!(loaded, json!("once"), "it was not loaded again");
    assert_eq!(visit.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium: `.ci/run browser`"]
fn search_and_keys_lead_to_a_consultation() {
    let Some(mut visit) = Visit::begin() else {
        return;
    };
    let browser = &mut visit.browser;
    browser.press("/");
    assert_eq!(browser.evaluate("document.activeElement.name"), json!("q"));
    for key in ["q", "u", "e", "u", "e"] {
        browser.press(key);
    }
    let rows = "document.querySelectorAll('main ul > li > a:first-child').length";
    browser.wait_until(&format!(
        "{rows} === 1 && location.search.includes('queue')"
    ));
    for key in ["Escape", "j", "k"] {
        browser.press(key);
    }
    let focused = browser.evaluate("document.activeElement.textContent");
    let focused = focused.as_str().unwrap();
    assert!(focused.contains("Which queue"), "{focused}");
    browser.press("Enter");
    browser.wait_until("document.querySelector('h1')?.textContent.includes('Which queue')");
    assert_eq!(visit.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium: `.ci/run browser`"]
fn pages_work_without_their_script() {
    let Some(mut visit) = Visit::begin() else {
        return;
    };
    let off = json!({"value": true});
    visit
        .browser
        .call("Emulation.setScriptExecutionDisabled", off);
    visit.open("/?q=queue");
    let browser = &mut visit.browser;
    let rows = "document.querySelectorAll('main ul > li > a:first-child').length";
    assert_eq!(browser.evaluate(rows), json!(1));
    browser.evaluate("document.querySelector('[name=q]').value = 'hundred'; 0");
    browser.evaluate("document.querySelector('form').submit()");
    browser.loaded();
    assert_eq!(browser.evaluate(rows), json!(1));
    let found = browser.evaluate("document.querySelector('main').innerText");
    assert!(found.as_str().unwrap().contains("two hundred"), "{found}");
}
