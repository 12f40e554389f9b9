//! Documents of all kinds through three iterations in place: what the tool does not own is as it
//! was, byte for byte.
//!
//! In every document, the first iteration answers the first question, contradicts the first claim,
//! defers the third question and adds one; the second answers the second question; the third finds
//! nothing.

mod check;
mod made;
mod stored;

use std::fs;

use super::position;
use crate::support::binary::Conclave;
use crate::support::provider_server::{On, ProviderServer};

const NEW_QUESTION: &str = "What costs a *second* <b>copy</b> in C:\\new?";

/// The findings of each iteration.
const FINDINGS: [&str; 3] = [
    "Q1 ANSWERED: Take the [short] way, 短い道.\nQ2 OPEN: Figures are missing.\n\
     Q3 DEFERRED: The owner | decides.\nQ4 OPEN: Figures are missing.\n\
     C1 CONTRADICTED: The <i>logs</i> differ, `a`.",
    "Q1 ANSWERED: - 1. # Use D:\\way\\.\nQ2 OPEN: Figures are missing.\n\
     Q3 OPEN: Figures are missing.",
    "Q1 OPEN: Figures are missing.\nQ2 OPEN: Figures are missing.",
];

/// A document, and what becomes of its items.
#[derive(Debug)]
struct Case {
    text: String,
    /// The lines of its section headings, the highest section first.
    headings: [&'static str; 3],
    /// The contradicted claim and the two answered questions.
    moves: [Move; 3],
    /// The beginning of the deferred question, where its tag comes.
    deferred: &'static str,
    /// What else the tool adds.
    added: &'static [&'static str],
    /// Whether blank lines stand between the questions, and so before the new one.
    is_loose: bool,
}

/// Whole lines that move, as they stood and as they arrive.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: &'static str,
    to: &'static str,
}

impl Move {
    const fn same(lines: &'static str) -> Self {
        Self {
            from: lines,
            to: lines,
        }
    }
}

/// Returns what three iterations make of a document.
fn refined(text: &str) -> String {
    let server = ProviderServer::start();
    for (iteration, findings) in FINDINGS.iter().enumerate() {
        let new = format!("{findings}\nNEW: {NEW_QUESTION}");
        server.on(On::any().nth(iteration + 1), position(&new));
    }
    let conclave = Conclave::at(&server);
    let path = conclave.folder().join("SPEC.md");
    fs::write(&path, text).unwrap();
    let output = conclave.run(&[
        "refine",
        "SPEC.md",
        "--in-place",
        "--panel",
        "pragmatic=openai:gpt-6.1-sol",
        "--judge",
        super::MODEL,
        "--rounds",
        "1",
        "--batch",
        "20",
        "--min-iterations",
        "3",
        "--max-iterations",
        "3",
        "--yes",
        "--json",
    ]);
    assert!(matches!(output.code, Some(0 | 14)), "{output:?}");
    let report = output.json();
    assert_eq!(report["iterations"].as_array().unwrap().len(), 3);
    assert_eq!(server.requests().len(), 3);
    let original = fs::read(conclave.folder().join("SPEC.refine/original.md")).unwrap();
    assert_eq!(original, text.as_bytes());
    fs::read_to_string(path).unwrap()
}

impl Case {
    #[track_caller]
    fn check(&self) {
        self.check_result(&refined(&self.text));
    }
}
