//! `conclave view` over a home of many consultations: the time of its pages, how soon a line of a
//! journal is in the browser, and the memory of the server.
//!
//! ```text
//! cargo bench --bench view               10,000 records
//! cargo bench --bench view -- 1000 1     then goes on until Enter, to look at the pages
//! ```

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

#[expect(dead_code, clippy::indexing_slicing, reason = "the tests use the rest")]
#[path = "../tests/it/support/samples/generated/mod.rs"]
mod generated;
mod support;
#[expect(dead_code, clippy::panic, reason = "the tests use the rest")]
#[path = "../tests/it/support/visitor.rs"]
mod visitor;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use conclave::domain::ids::ConsultationId;
use conclave::engine::ports::Subscriber;
use conclave::records::files::ConsultationFiles;
use conclave::records::index::Index;
use conclave::records::index::follow::{self, IndexChange};
use conclave::records::index::rebuild::rebuild;
use conclave::records::journal::Journal;

use generated::Length;
use support::figures::{self, Figures, Limit, milliseconds};
use visitor::Visitor;

const TIMES: usize = 40;

fn main() {
    let count = figures::argument(0).unwrap_or(10_000);
    let home = support::folder();
    let logs = home.path().join("consult-logs");
    fs::create_dir(&logs).unwrap();
    generated::write(&logs, 1, count, Length::Usual);
    let database = home.path().join("consult-analytics.db");
    rebuild(&logs, &database, &mut |_| ()).unwrap();

    let mut server = Command::new(env!("CARGO_BIN_EXE_conclave"))
        .args(["view", "--no-open"])
        .env("CONCLAVE_HOME", home.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    let mut lines = BufReader::new(server.stdout.take().unwrap());
    lines.read_line(&mut address).unwrap();
    let visitor = Visitor::enter(&address);

    figures::heading("Pages, ms");
    let newest = generated::consultations(1, count, Length::Usual)
        .last()
        .unwrap();
    let pages = [
        ("/".to_owned(), 50.0),
        (format!("/?page={}", count / 100), 50.0),
        ("/?q=session+cookie".to_owned(), 50.0),
        ("/?q=should".to_owned(), 50.0),
        ("/?model=gpt&state=completed&min=0.1".to_owned(), 50.0),
        (format!("/c/{}", newest.id), 30.0),
        ("/statistics?range=week".to_owned(), 30.0),
        ("/statistics?range=all".to_owned(), 30.0),
    ];
    let mut times = vec![Figures::default(); pages.len()];
    // In turn: the statistics that were asked for last are kept.
    for _ in 0..TIMES {
        for ((path, _), times) in pages.iter().zip(&mut times) {
            let began = Instant::now();
            assert_eq!(visitor.get(path).status, 200);
            times.0.push(milliseconds(began, Instant::now()));
        }
    }
    for ((path, limit), times) in pages.iter().zip(&times) {
        figures::row(path, times, Limit::of_median(*limit));
    }

    figures::heading("From a journal's line to the browser, ms");
    let running = generated::consultations(2, 1, Length::Usual)
        .next()
        .unwrap();
    let id = ConsultationId::parse(&running.id).unwrap();
    let files = ConsultationFiles::in_folder(&logs, &id);
    let mut journal = Journal::create(&files.journal).unwrap();
    let (first, rest) = running.events.split_first().unwrap();
    journal.event(first).unwrap();
    let mut index = Index::open(&database).unwrap();
    follow::apply(&mut index, &[IndexChange::Begun(id.clone(), running.at)]).unwrap();
    let mut events = visitor.events(&format!("/c/{id}"), None);
    events.next().unwrap();
    let mut times = Figures::default();
    for (line, event) in (2..).zip(rest.iter().take(rest.len() - 1)) {
        // Between two events of a model, there is time.
        sleep(Duration::from_millis(30));
        let began = Instant::now();
        journal.event(event).unwrap();
        events.wait_for("the line", |event| event.id == line.to_string());
        times.0.push(milliseconds(began, Instant::now()));
    }
    figures::row("one page that follows", &times, Limit::of_p99(100.0));

    figures::heading("Memory, MB");
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = resident.unwrap().trim().trim_end_matches(" kB");
    let kilobytes = kilobytes.parse::<u32>().unwrap();
    figures::single(
        "most that was resident",
        f64::from(kilobytes) / 1024.0,
        Some(30.0),
    );
    if figures::argument::<u32>(1).is_some() {
        println!("{address}Enter ends it");
        std::io::stdin().read_line(&mut address).unwrap();
    }
    server.kill().unwrap();
    server.wait().unwrap();
}
