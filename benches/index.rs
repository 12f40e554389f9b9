//! The index of very many consultations: the speed of a rebuild and of its parts, the time of whole
//! commands that read it, and the time to write the end of a consultation.
//!
//! ```text
//! cargo bench --bench index              100,000 records; about 4 minutes and 6 GB of disk
//! cargo bench --bench index -- 20000
//! ```
//!
//! Each rate has the CPU time per record beside it, which does not depend on the load of the
//! machine. There are two lengths of records: those of panels of three with four rounds, and short
//! ones of about 12 KB, to which the limits apply.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]
#![expect(clippy::cast_precision_loss, reason = "figures to be read")]

#[expect(dead_code, clippy::indexing_slicing, reason = "the tests use the rest")]
#[path = "../tests/it/support/samples/generated/mod.rs"]
mod generated;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::ConsultationId;
use conclave::domain::time::Timestamp;
use conclave::engine::ports::Subscriber;
use conclave::records::files::ConsultationFiles;
use conclave::records::index::Index;
use conclave::records::index::follow::{self, IndexChange};
use conclave::records::index::rebuild::rebuild;
use conclave::records::index::{extract, schema, store};
use conclave::records::journal::Journal;
use conclave::records::stored;
use conclave::terminal::report::report;
use rusqlite::Connection;

use generated::Length;
use support::figures::{self, Figures, Limit, milliseconds};

const CONCLAVE: &str = env!("CARGO_BIN_EXE_conclave");

/// The records per second that a rebuild has to reach.
const REBUILD: f64 = 4_000.0;

/// The runs of each command, and the number of ended consultations.
const TIMES: usize = 40;

/// The commands that read the index, with the limit of the whole process in milliseconds.
const COMMANDS: [(&[&str], Option<f64>); 9] = [
    (&["--version"], None),
    (&["consult-stats"], Some(200.0)),
    (&["consult-stats", "--json"], Some(200.0)),
    (&["consult-stats", "--week"], Some(200.0)),
    (
        &[
            "consult-stats",
            "--since",
            "2000-01-01",
            "--until",
            "2026-06-15",
        ],
        Some(200.0),
    ),
    (&["history", "list"], Some(50.0)),
    (
        &[
            "history",
            "list",
            "--state",
            "completed",
            "--mode",
            "explore",
        ],
        Some(50.0),
    ),
    (
        &["history", "list", "--search", "session cookie"],
        Some(50.0),
    ),
    (&["history", "list", "--search", "should"], Some(50.0)),
];

fn main() {
    let count = figures::argument(0).unwrap_or(100_000);
    for length in [Length::Short, Length::Usual] {
        measure(count, length);
    }
}

fn measure(count: usize, length: Length) {
    let home = support::folder();
    let logs = home.path().join("consult-logs");
    fs::create_dir(&logs).unwrap();
    let generated = TimeSpent::on(|| generated::write(&logs, 1, count, length));
    let paths = paths(&logs);
    let bytes: u64 = paths
        .iter()
        .map(|path| path.metadata().unwrap().len())
        .sum();
    println!(
        "\n{count} records, {} bytes each; generated in {:.1} s",
        bytes / count as u64,
        generated.wall
    );
    println!(
        "{:<48} {:>10} {:>10} {:>14}",
        "", "records/s", "limit", "us of CPU each"
    );

    // In portions, to bound the memory.
    let (mut reading, mut parsing, mut inserting) = (
        TimeSpent::default(),
        TimeSpent::default(),
        TimeSpent::default(),
    );
    let one_by_one = home.path().join("insert.db");
    let mut connection = Connection::open(&one_by_one).unwrap();
    schema::create(&connection).unwrap();
    let transaction = connection.transaction().unwrap();
    for portion in paths.chunks(2_000) {
        let mut records = Vec::new();
        reading +=
            TimeSpent::on(|| records.extend(portion.iter().map(|path| fs::read(path).unwrap())));
        let mut rows = Vec::new();
        parsing += TimeSpent::on(|| {
            rows.extend(
                records
                    .iter()
                    .map(|record| extract::rows(&stored::read(record).unwrap(), Timestamp(0))),
            );
        });
        inserting += TimeSpent::on(|| {
            for rows in &rows {
                store::put(&transaction, rows).unwrap();
            }
        });
    }
    inserting += TimeSpent::on(|| transaction.commit().unwrap());
    row("files read only", reading, count, None);
    row("parse only", parsing, count, None);
    row("insert only", inserting, count, None);

    let database = home.path().join("consult-analytics.db");
    let mut indexed = 0;
    let rebuilding =
        TimeSpent::on(|| indexed = rebuild(&logs, &database, &mut |_| ()).unwrap().indexed);
    assert_eq!(indexed, count);
    row("rebuild, whole", rebuilding, count, Some(REBUILD));
    println!(
        "{:<48} {:>10.1}",
        "size of the index, MB",
        fs::metadata(&database).unwrap().len() as f64 / 1e6
    );
    commands(home.path());
    endings(&logs, &database, length);
}

/// Measures whole processes from start to end, with their output discarded.
fn commands(home: &Path) {
    figures::heading("Whole processes, ms");
    for (arguments, limit) in COMMANDS {
        let mut times = Figures::default();
        for _ in 0..TIMES {
            let mut command = Command::new(CONCLAVE);
            command
                .args(arguments)
                .env("CONCLAVE_HOME", home)
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            let began = Instant::now();
            assert!(command.status().unwrap().success());
            times.0.push(milliseconds(began, Instant::now()));
        }
        figures::row(
            arguments.join(" "),
            &times,
            limit.map_or(Limit::NONE, Limit::of_median),
        );
    }
}

/// Measures the writes at the end of a consultation, fsync included: the last events of its
/// journal, its record, its Markdown and the index.
fn endings(logs: &Path, database: &Path, length: Length) {
    figures::heading("The end of a consultation, ms");
    let (mut whole, mut index_alone) = (Figures::default(), Figures::default());
    for consultation in generated::consultations(2, TIMES, length) {
        let id = ConsultationId::from_unique(consultation.id.strip_prefix("consult-").unwrap());
        let files = ConsultationFiles::in_folder(logs, &id);
        let mut journal = Journal::create(&files.journal).unwrap();
        let (last, earlier) = consultation.events.split_last().unwrap();
        for event in earlier {
            journal.event(event).unwrap();
        }
        let transcript = Transcript::fold(&consultation.events).unwrap();
        let record = transcript.stored_record();
        let markdown = report(&record);
        let began = Instant::now();
        journal.event(last).unwrap();
        journal.finish().unwrap();
        files.write_results(&record, &markdown).unwrap();
        let results = Instant::now();
        let mut index = Index::open(database).unwrap();
        follow::apply(
            &mut index,
            &[IndexChange::ended(&id, &record, consultation.at)],
        )
        .unwrap();
        drop(index);
        let ended = Instant::now();
        whole.0.push(milliseconds(began, ended));
        index_alone.0.push(milliseconds(results, ended));
    }
    figures::row("all four places", &whole, Limit::of_median(25.0));
    figures::row("of it the index", &index_alone, Limit::NONE);
}

fn row(what: &str, spent: TimeSpent, count: usize, limit: Option<f64>) {
    let figure = count as f64 / spent.wall;
    let (shown, met) = match limit {
        Some(limit) if figure < limit => (format!("{limit:.0}"), "NOT MET"),
        Some(limit) => (format!("{limit:.0}"), "met"),
        None => (String::new(), ""),
    };
    println!(
        "{what:<48} {figure:>10.0} {shown:>10} {:>14.1}  {met}",
        spent.processors * 1e6 / count as f64
    );
}

/// Elapsed seconds, and CPU seconds of all processors.
#[derive(Clone, Copy, Debug, Default)]
struct TimeSpent {
    wall: f64,
    processors: f64,
}

impl TimeSpent {
    fn on(work: impl FnOnce()) -> Self {
        let (began, busy) = (Instant::now(), cpu_seconds());
        work();
        Self {
            wall: began.elapsed().as_secs_f64(),
            processors: cpu_seconds() - busy,
        }
    }
}

impl std::ops::Add for TimeSpent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            wall: self.wall + other.wall,
            processors: self.processors + other.processors,
        }
    }
}

impl std::ops::AddAssign for TimeSpent {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Returns the CPU seconds of this process with its ended threads, to a hundredth (Linux).
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit_once(") ").unwrap().1;
    let ticks: Vec<f64> = after_name
        .split(' ')
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse().unwrap())
        .collect();
    ticks.iter().sum::<f64>() / 100.0
}

/// Returns the paths of all records in order.
fn paths(logs: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(logs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}
