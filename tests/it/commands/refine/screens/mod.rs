//! The command as a person meets it: its files, its screens and its exit codes.
//!
//! One seat works in one round, unless a test is about the whole panel, whose findings are the
//! judge's.

mod access;
mod convergence;
mod files;
mod output;
mod panel;
mod refusals;
mod without_calls;

use std::path::PathBuf;

use serde_json::json;

use super::{MODEL, position, said};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::git::git;
use crate::support::provider_server::{Answer, On, ProviderServer};

/// A document with six open questions.
const SIX: &str = "\
# Payments

Some words that stay as they are.

## High Confidence

- Refunds go through the ledger service.

## Medium Confidence

- The webhook is retried three times.

## Open Questions

- Where are idempotency keys kept?
- How long may a refund stay pending?
- Which currency is the ledger in?
- Who is paged when a payout fails?
- What is the limit of a refund?
- How are partial refunds shown?
";

/// One question of each iteration is answered: of six, 5, 4 and 3 stay open.
const ONE_ANSWER: &str = "Q1 ANSWERED: In the table `keys` of the ledger.";

/// A document with the server that answers its questions.
#[derive(Debug)]
struct Desk {
    server: ProviderServer,
    conclave: Conclave,
}

impl Desk {
    /// Sets up a folder with this document as `SPEC.md`. The panel answers nothing.
    fn with(document: &str) -> Self {
        let server = ProviderServer::start();
        server.on(On::any(), Answer::valid());
        let conclave = Conclave::at(&server);
        let desk = Self { server, conclave };
        desk.write("SPEC.md", document);
        desk.finds("Q1 OPEN: the code does not say")
    }

    /// Sets the findings of every consultation.
    fn finds(self, findings: &str) -> Self {
        let asking = On::asking_for;
        self.server.on(asking("position"), position(findings));
        self.server.on(asking("recommendation"), verdict(findings));
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.conclave.folder().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    #[track_caller]
    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Refines `SPEC.md` with one consultation for all questions, without being asked for consent.
    fn run(&self, more: &[&str]) -> RunOutput {
        self.conclave.run(&arguments(more))
    }

    /// Refines it with the whole panel.
    fn run_panel(&self, more: &[&str]) -> RunOutput {
        self.conclave.run(&[&WHOLE_PANEL[..], more].concat())
    }

    /// Makes the folder a repository that has its files as they are.
    fn commit(&self) {
        git(self.conclave.folder(), &["init", "--quiet"]);
        git(self.conclave.folder(), &["add", "SPEC.md"]);
        let commit = ["commit", "--quiet", "-m", "A document"];
        git(self.conclave.folder(), &commit);
    }

    fn requests(&self) -> usize {
        self.server.requests().len()
    }
}

const WHOLE_PANEL: [&str; 5] = ["refine", "SPEC.md", "--batch", "20", "--yes"];

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let seat = ["--panel", "pragmatic=openai:gpt-6.1-sol", "--judge", MODEL];
    [&WHOLE_PANEL, &seat[..], &["--rounds", "1"], more].concat()
}

/// Returns a verdict with these findings, of high confidence and without dissent.
fn verdict(findings: &str) -> Answer {
    let verdict = json!({
        "summary": "They agreed.",
        "evidence": [],
        "dissent": [],
        "recommendation": "Do so.",
        "confidence": 0.9,
    });
    said(verdict, findings)
}
