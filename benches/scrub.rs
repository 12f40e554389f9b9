//! Masking of secrets: the speed over source code beside a search for one literal in the same text,
//! and the time to build a scrubber.
//!
//! ```text
//! cargo bench --bench scrub                     the sources of the registry, up to 200 MB
//! cargo bench --bench scrub -- 50 FOLDER        up to 50 MB of a folder
//! ```
//!
//! A megabyte has 1,000,000 bytes. Each file is scrubbed alone, as one text. Speeds are those of
//! the CPU time, which does not depend on the load of the machine (Linux).

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reads the clock and the environment, and prints what it found"
)]
#![expect(clippy::cast_precision_loss, reason = "figures to be read")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use aho_corasick::AhoCorasick;
use conclave::scrub::rules::UserRules;
use conclave::scrub::{OutgoingText, Scrubber};

use support::figures::{self, Figures, Limit, milliseconds};

/// Source code in the usual languages.
const EXTENSIONS: [&str; 12] = [
    "rs", "py", "js", "ts", "go", "java", "c", "h", "cpp", "toml", "md", "yml",
];

const REPETITIONS: usize = 5;

fn main() {
    let most = figures::argument(0).unwrap_or(200.0) * 1e6;
    let folder = std::env::args()
        .nth(2)
        .filter(|folder| !folder.starts_with('-'));
    let folder = folder.map_or_else(registry, PathBuf::from);
    let mut texts = Vec::new();
    read(&folder, most, &mut texts);
    let bytes: usize = texts.iter().map(String::len).sum();
    let megabytes = bytes as f64 / 1e6;
    let files = texts.len();

    construction();
    figures::heading(format!(
        "{megabytes:.0} MB of source code in {files} files, MB/s"
    ));
    let plain = literal_search(&texts, megabytes);
    let scrubber = Scrubber::new(&UserRules::default(), &[]).unwrap();
    let (scrub, findings) = scrub(&scrubber, &texts, megabytes);
    figures::row("a search for one literal", &plain, Limit::NONE);
    figures::row(
        "scrubbing with all rules (at least 150)",
        &scrub,
        Limit::NONE,
    );
    println!(
        "{:.1} times the time of the search; {findings} findings",
        plain.median() / scrub.median()
    );
}

fn construction() {
    let mut times = Figures::default();
    for _ in 0..50 {
        let began = Instant::now();
        let scrubber = Scrubber::new(&UserRules::default(), &[]).unwrap();
        times.0.push(milliseconds(began, Instant::now()));
        drop(scrubber);
    }
    figures::heading("A scrubber with all rules, ms");
    figures::row("construction", &times, Limit::of_median(10.0));
}

/// Returns the speed of a search that reads everything and finds nothing.
fn literal_search(texts: &[String], megabytes: f64) -> Figures {
    let literal = AhoCorasick::new(["qZ7#no-text-has-this"]).unwrap();
    let mut speeds = Figures::default();
    for _ in 0..REPETITIONS {
        let began = cpu_seconds();
        let found = texts
            .iter()
            .filter(|text| literal.is_match(text.as_str()))
            .count();
        speeds.0.push(megabytes / (cpu_seconds() - began));
        assert_eq!(found, 0);
    }
    speeds
}

fn scrub(scrubber: &Scrubber, texts: &[String], megabytes: f64) -> (Figures, u64) {
    let mut speeds = Figures::default();
    let mut findings = 0;
    for _ in 0..REPETITIONS {
        let began = cpu_seconds();
        findings = 0;
        for text in texts {
            let outgoing = OutgoingText {
                source: "file",
                text,
            };
            findings += scrubber.scrub(&[outgoing]).report.patterns_matched;
        }
        speeds.0.push(megabytes / (cpu_seconds() - began));
    }
    (speeds, findings)
}

/// Returns the CPU seconds of this thread.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds: f64 = stat.split(' ').next().unwrap().parse().unwrap();
    nanoseconds / 1e9
}

/// Returns the folder of the sources that Cargo has unpacked.
fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(".cargo"));
    home.join("registry").join("src")
}

fn read(folder: &Path, most: f64, texts: &mut Vec<String>) {
    let mut size = 0.0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
        entries.sort_by_key(fs::DirEntry::path);
        for entry in entries {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && extension.is_some_and(|it| EXTENSIONS.contains(&it)) {
                if let Ok(text) = fs::read_to_string(&path) {
                    size += text.len() as f64;
                    texts.push(text);
                }
                if size > most {
                    return;
                }
            }
        }
    }
}
