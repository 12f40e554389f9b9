//! Checks the dependency rule of `lib.rs`: the layers that each folder may use, and names that the
//! pure layers must not contain.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// The folders of this crate that each folder may use.
const MAY_USE: [(&str, &[&str]); 12] = [
    ("domain", &["domain"]),
    ("stopping", &["domain", "stopping"]),
    ("consultation", &["domain", "stopping", "consultation"]),
    ("engine", &["domain", "stopping", "consultation", "engine"]),
    (
        "providers",
        &["domain", "stopping", "consultation", "engine", "providers"],
    ),
    (
        "records",
        &["domain", "stopping", "consultation", "engine", "records"],
    ),
    (
        "terminal",
        &["domain", "stopping", "consultation", "engine", "terminal"],
    ),
    ("config", &["domain", "stopping", "consultation", "config"]),
    (
        "commands",
        &[
            "domain",
            "stopping",
            "consultation",
            "engine",
            "providers",
            "records",
            "terminal",
            "config",
            "setup",
            "session",
            "commands",
            "error",
        ],
    ),
    (
        "setup",
        &[
            "domain",
            "stopping",
            "consultation",
            "engine",
            "providers",
            "records",
            "terminal",
            "config",
            "setup",
            "error",
        ],
    ),
    (
        "session",
        &[
            "domain",
            "stopping",
            "consultation",
            "engine",
            "providers",
            "records",
            "terminal",
            "config",
            "setup",
            "session",
            "error",
        ],
    ),
    ("error.rs", &["error"]),
];

/// Names that the pure layers must not contain: runtime, network, files, environment, clock,
/// unseeded randomness and terminal.
const IMPURE: [&str; 16] = [
    "tokio::",
    "reqwest::",
    "std::fs",
    "std::io",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
    "rand::",
    "fastrand::",
    "Rng::new",
    "println!",
    "console::",
];

#[test]
fn folders_use_only_the_layers_below() {
    let mut violations = Vec::new();
    for (folder, allowed) in MAY_USE {
        for (path, text) in sources(folder) {
            for used in uses_of_this_crate(&text) {
                if !allowed.contains(&used.as_str()) {
                    violations.push(format!("{} uses crate::{used}", path.display()));
                }
            }
        }
    }
    assert_eq!(violations, Vec::<String>::new());
}

#[test]
fn pure_layers_name_nothing_impure() {
    let mut violations = Vec::new();
    for folder in ["domain", "stopping", "consultation"] {
        for (path, text) in sources(folder) {
            violations.extend(
                IMPURE
                    .iter()
                    .filter(|name| names(&text, name))
                    .map(|name| format!("{} names {name}", path.display())),
            );
        }
    }
    assert_eq!(violations, Vec::<String>::new());
}

#[test]
fn only_the_printer_prints_and_only_config_reads_the_environment() {
    for (path, text) in sources(".") {
        if !path.ends_with("terminal/output/printer.rs") {
            assert!(!text.contains("io::stdout()"), "{} prints", path.display());
            assert!(!text.contains("io::stderr()"), "{} prints", path.display());
        }
        if !path.starts_with(Path::new(ROOT).join("config")) {
            assert!(
                !text.contains("env::var"),
                "{} reads the environment",
                path.display()
            );
        }
    }
}

fn names(text: &str, name: &str) -> bool {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .any(|line| {
            line.match_indices(name).any(|(at, _)| {
                !line
                    .split_at(at)
                    .0
                    .ends_with(|before: char| before.is_alphanumeric() || before == '_')
            })
        })
}

fn uses_of_this_crate(text: &str) -> Vec<String> {
    let first_word = |rest: &str| {
        rest.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect::<String>()
    };
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| {
            line.match_indices("crate::")
                .map(|(at, prefix)| first_word(line.split_at(at + prefix.len()).1))
                .collect::<Vec<_>>()
        })
        .filter(|used| !used.is_empty())
        .collect()
}

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    collect(&Path::new(ROOT).join(folder), &mut files);
    assert!(!files.is_empty(), "{folder} has sources");
    files
}

fn collect(path: &Path, files: &mut Vec<(PathBuf, String)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), files);
        }
    } else if path.extension().is_some_and(|ending| ending == "rs") {
        files.push((path.to_owned(), fs::read_to_string(path).unwrap()));
    }
}
