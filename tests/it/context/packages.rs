//! The scrubber over the source of published packages: how many findings, and how fast. Run it
//! with `cargo test --profile bench --test it packages -- --ignored --nocapture`; the variable
//! `SCRUBBED_FOLDERS` names other folders than cargo's, divided by `:`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use conclave::scrub::rules::UserRules;
use conclave::scrub::{OutgoingText, Scrubber};

/// A file whose NUL byte is among the first ones is binary.
const SNIFFED_BYTES: usize = 8192;

/// An excerpt shows this many characters before and after the start of a placeholder.
const EXCERPT_SIDE: usize = 70;

#[derive(Default)]
struct Totals {
    files: usize,
    bytes: usize,
    lines: usize,
    findings: usize,
    time: Duration,
}

#[test]
#[ignore = "reads all packages that cargo has unpacked"]
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures, for a person to read"
)]
fn findings_in_the_source_of_published_packages() {
    let scrubber = Scrubber::new(&UserRules::default(), &[]).unwrap();
    let mut totals = Totals::default();
    let mut open = folders();
    while let Some(path) = open.pop() {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| entry.unwrap().path()));
            continue;
        }
        let Some(text) = text_of(&path) else {
            continue;
        };
        let source = path.to_string_lossy();
        let outgoing = OutgoingText {
            source: &source,
            text: &text,
        };
        let start = Instant::now();
        let masked = scrubber.scrub(&[outgoing]);
        totals.time += start.elapsed();
        totals.files += 1;
        totals.bytes += text.len();
        totals.lines += text.lines().count();
        totals.findings += masked.findings.len();
        for finding in &masked.findings {
            println!("{}\t{source}:{}", finding.rule, finding.line);
        }
        if !masked.findings.is_empty() {
            print_excerpts(&masked.texts[0]);
        }
    }
    let Totals {
        files,
        bytes,
        lines,
        findings,
        time,
    } = totals;
    let rate = u128::try_from(bytes).unwrap() / time.as_micros().max(1);
    println!(
        "{files} files, {} MB, {lines} lines: {findings} findings, {rate} MB/s",
        bytes / 1_000_000,
    );
}

/// Prints what stands around each placeholder.
#[expect(clippy::print_stdout, reason = "a person reads it")]
fn print_excerpts(masked: &str) {
    for (at, _) in masked.match_indices("[REDACTED") {
        let before = masked[..at].chars().rev().take(EXCERPT_SIDE);
        let before = before.collect::<Vec<_>>().into_iter().rev();
        let after = masked[at..].chars().take(EXCERPT_SIDE);
        let excerpt = before.chain(after).collect::<String>();
        println!("    {}", excerpt.escape_debug());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the person who runs it names the folders"
)]
fn folders() -> Vec<PathBuf> {
    if let Some(folders) = std::env::var_os("SCRUBBED_FOLDERS") {
        return std::env::split_paths(&folders).collect();
    }
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(
        || Path::new(&std::env::var_os("HOME").unwrap()).join(".cargo"),
        PathBuf::from,
    );
    vec![cargo.join("registry/src")]
}

fn text_of(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let start = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    if start.contains(&0) {
        return None;
    }
    String::from_utf8(bytes).ok()
}
