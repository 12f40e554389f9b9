//! The index of very many consultations: how fast it is rebuilt, whole and by part, how long whole
//! commands take that read it, and what the end of a consultation writes.
//!
//! ```text
//! cargo bench --bench index              100,000 records; about 4 minutes and 6 GB of disk
//! cargo bench --bench index -- 20000
//! ```
//!
//! Beside the records a second stands what each took of the processors' time: that does not depend
//! on what else the machine does. Two lengths of records: as panels of three with four rounds leave
//! them, and short ones of about 12 KB, which the limits are for.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]
#![expect(clippy::cast_precision_loss, reason = "figures to be read")]

#[expect(
    dead_code,
    clippy::indexing_slicing,
    reason = "the other benches use the rest"
)]
#[path = "support/figures.rs"]
mod figures;
#[expect(dead_code, clippy::indexing_slicing, reason = "the tests use the rest")]
#[path = "../tests/it/support/generated/mod.rs"]
mod generated;

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
use conclave::records::index::bulk::Bulk;
use conclave::records::index::extract;
use conclave::records::index::follow;
use conclave::records::index::rebuild::rebuild;
use conclave::records::index::schema;
use conclave::records::journal::Journal;
use conclave::records::record::record;
use conclave::terminal::report::report;
use figures::{Figures, Limit, milliseconds};
use generated::Length;
use rusqlite::Connection;

const CONCLAVE: &str = env!("CARGO_BIN_EXE_conclave");

/// Records a second that a rebuild has to reach.
const REBUILD: f64 = 20_000.0;

/// How often each command is run, and how many consultations end.
const TIMES: usize = 40;

/// The commands that ask the index, each with the milliseconds that the whole process may take.
const COMMANDS: [(&[&str], Option<f64>); 9] = [
    (&["--version"], None),
    (&["consult-stats"], Some(60.0)),
    (&["consult-stats", "--json"], Some(60.0)),
    (&["consult-stats", "--week"], Some(60.0)),
    (
        &[
            "consult-stats",
            "--since",
            "2000-01-01",
            "--until",
            "2026-06-15",
        ],
        Some(60.0),
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
    let count = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .find_map(|argument| argument.parse().ok());
    for length in [Length::Short, Length::Usual] {
        measure(count.unwrap_or(100_000), length);
    }
}

fn measure(count: usize, length: Length) {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let logs = home.path().join("consult-logs");
    fs::create_dir(&logs).unwrap();
    let generated = Spent::on(|| generated::write(&logs, 1, count, length));
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

    // In portions, so that the records need not be in memory all at once.
    let (mut reading, mut parsing, mut inserting) =
        (Spent::default(), Spent::default(), Spent::default());
    let one_by_one = home.path().join("insert.db");
    let mut connection = Connection::open(&one_by_one).unwrap();
    schema::migrate(&mut connection, 0).unwrap();
    let mut bulk = Bulk::begin(&connection).unwrap();
    for portion in paths.chunks(2_000) {
        let mut records = Vec::new();
        reading += Spent::on(|| records.extend(portion.iter().map(|path| fs::read(path).unwrap())));
        let mut rows = Vec::new();
        parsing += Spent::on(|| {
            rows.extend(
                records
                    .iter()
                    .map(|record| extract::rows(record, "stem", Timestamp(0)).unwrap()),
            );
        });
        inserting += Spent::on(|| {
            for rows in &rows {
                bulk.put(rows).unwrap();
            }
        });
    }
    let finishing = Spent::on(|| bulk.finish().unwrap());
    row("files read only", reading, count, None);
    row("parse only", parsing, count, None);
    row("insert only", inserting + finishing, count, None);
    row("  rows", inserting, count, None);
    row("  what they are searched by", finishing, count, None);

    let database = home.path().join("consult-analytics.db");
    let mut indexed = 0;
    let rebuilding =
        Spent::on(|| indexed = rebuild(&logs, &database, &mut |_| ()).unwrap().indexed);
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

/// Whole processes, from their start to their end, with what they print going nowhere.
fn commands(home: &Path) {
    figures::heading("Whole processes, ms");
    for (arguments, limit) in COMMANDS {
        let mut taken = Figures::default();
        for _ in 0..TIMES {
            let mut command = Command::new(CONCLAVE);
            command
                .args(arguments)
                .env("CONCLAVE_HOME", home)
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            let began = Instant::now();
            assert!(command.status().unwrap().success());
            taken.0.push(milliseconds(began, Instant::now()));
        }
        figures::row(
            arguments.join(" "),
            &taken,
            limit.map_or(Limit::NONE, Limit::of_median),
        );
    }
}

/// What the end of a consultation writes, fsync included: the last events of its journal, record,
/// Markdown, index.
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
        let markdown = report(&transcript);
        let began = Instant::now();
        journal.event(last).unwrap();
        journal.finish().unwrap();
        files.write_results(&transcript, &markdown).unwrap();
        let results = Instant::now();
        let json = serde_json::to_vec(&record(&transcript)).unwrap();
        let mut index = Index::open(database).unwrap();
        follow::end(&mut index, &id, &json, consultation.at).unwrap();
        drop(index);
        let ended = Instant::now();
        whole.0.push(milliseconds(began, ended));
        index_alone.0.push(milliseconds(results, ended));
    }
    figures::row("all four places", &whole, Limit::of_median(25.0));
    figures::row("of it the index", &index_alone, Limit::NONE);
}

fn row(what: &str, spent: Spent, count: usize, limit: Option<f64>) {
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

/// Seconds by the clock, and seconds of all processors together.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    wall: f64,
    processors: f64,
}

impl Spent {
    fn on(work: impl FnOnce()) -> Self {
        let (began, busy) = (Instant::now(), processors());
        work();
        Self {
            wall: began.elapsed().as_secs_f64(),
            processors: processors() - busy,
        }
    }
}

impl std::ops::Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            wall: self.wall + other.wall,
            processors: self.processors + other.processors,
        }
    }
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Seconds that this process has kept processors busy, threads that have ended included, to a
/// hundredth (Linux).
fn processors() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let behind_the_name = stat.rsplit_once(") ").unwrap().1;
    let ticks: Vec<f64> = behind_the_name
        .split(' ')
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse().unwrap())
        .collect();
    ticks.iter().sum::<f64>() / 100.0
}

/// All records in the order of their names.
fn paths(logs: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(logs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}
