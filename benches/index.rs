//! The index of very many consultations: how fast it is made anew, whole and each part alone.
//!
//! ```text
//! cargo bench --bench index              100,000 records; about 3 minutes and 6 GB of disk
//! cargo bench --bench index -- 20000
//! ```
//!
//! Two lengths of records: as panels of three with four rounds leave them, and short ones of about 12 KB, which the limits are for.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a bench fails by panicking")]
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench reads the clock and prints what it found")]

#[expect(dead_code, clippy::cast_precision_loss, reason = "the tests use the rest")]
#[path = "../tests/it/support/generated/mod.rs"]
mod generated;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use conclave::domain::time::Timestamp;
use conclave::records::index::bulk::Bulk;
use conclave::records::index::extracting;
use conclave::records::index::rebuilding::rebuild;
use conclave::records::index::schema;
use generated::Length;
use rusqlite::Connection;

/// Records a second that a rebuild has to reach.
const REBUILD: f64 = 20_000.0;

fn main() {
    let count = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).find_map(|argument| argument.parse().ok());
    for length in [Length::Short, Length::Usual] {
        measure(count.unwrap_or(100_000), length);
    }
}

fn measure(count: usize, length: Length) {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let logs = home.path().join("consult-logs");
    fs::create_dir(&logs).unwrap();
    let took = time(|| generated::write(&logs, 1, count, length));
    let paths = paths(&logs);
    let bytes: u64 = paths.iter().map(|path| path.metadata().unwrap().len()).sum();
    println!("\n{count} records, {} bytes each; generated in {took:.1} s", bytes / count as u64);
    println!("{:<56} {:>11} {:>11}", "", "records/s", "limit");

    // In portions, so that the records need not be in memory all at once.
    let (mut reading, mut parsing, mut inserting) = (0.0, 0.0, 0.0);
    let mut connection = Connection::open(home.path().join("insert.db")).unwrap();
    schema::migrate(&mut connection, 0).unwrap();
    let mut bulk = Bulk::begin(&connection).unwrap();
    for portion in paths.chunks(2_000) {
        let mut records = Vec::new();
        reading += time(|| records.extend(portion.iter().map(|path| fs::read(path).unwrap())));
        let mut rows = Vec::new();
        parsing += time(|| rows.extend(records.iter().map(|record| extracting::rows(record, "stem", Timestamp(0)).unwrap())));
        inserting += time(|| {
            for rows in &rows {
                bulk.put(rows).unwrap();
            }
        });
    }
    let finishing = time(|| bulk.finish().unwrap());
    let per_second = |took: f64| count as f64 / took;
    row("files read only", per_second(reading), None);
    row("parse only", per_second(parsing), None);
    row("insert only", per_second(inserting + finishing), None);
    row("  rows", per_second(inserting), None);
    row("  what they are searched by", per_second(finishing), None);

    let database = home.path().join("consult-analytics.db");
    let mut rebuilt = None;
    let took = time(|| rebuilt = Some(rebuild(&logs, &database, &mut |_| ()).unwrap()));
    let found = rebuilt.map_or(0, |rebuilt| rebuilt.indexed);
    row(&format!("rebuild, whole ({found} found)"), per_second(took), Some(REBUILD));
    let size = fs::metadata(home.path().join("insert.db")).unwrap().len();
    println!("{:<56} {:>11.1}", "size of the index, MB", size as f64 / 1e6);
}

fn row(what: &str, figure: f64, limit: Option<f64>) {
    let (shown, met) = match limit {
        Some(limit) if figure < limit => (format!("{limit:.0}"), "NOT MET"),
        Some(limit) => (format!("{limit:.0}"), "met"),
        None => (String::new(), ""),
    };
    println!("{what:<56} {figure:>11.0} {shown:>11}  {met}");
}

fn time(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

/// All records in the order of their names.
fn paths(logs: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(logs).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
