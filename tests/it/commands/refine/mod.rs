//! `conclave refine` end to end, on the local provider server.
//!
//! The panel is one expert with one call a consultation, and a consultation has one question, which
//! names its number: by that the server tells the consultations apart.

mod screens;
mod loops;
mod resume;
mod kills;
mod edits;
mod beside;
mod limits;
mod ceilings;
mod foreign;
mod secrets;
mod logs;
mod traces;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::binary::{Conclave, RunOutput, RunningProcess};
use crate::support::provider_server::{Answer, On, ProviderServer};

/// The model that answers.
const MODEL: &str = "openai:gpt-6.1-sol";

/// A document with the server that answers its questions.
#[derive(Debug)]
pub(super) struct Refinement {
    pub(super) server: ProviderServer,
    pub(super) conclave: Conclave,
}

impl Refinement {
    /// Sets up a document with the questions on `k01`, `k02`, …, which get an answer.
    pub(super) fn of(questions: usize) -> Self {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let refinement = Self { server, conclave };
        for number in 1..=questions {
            refinement.on(number, answered(number));
        }
        let questions: Vec<String> = (1..=questions).map(|number| entry(number) + "\n").collect();
        refinement.write(&format!(
            "# Spec\n\nBy hand.\n\n## High Confidence\n\n- It is a service.\n\n## Open Questions\n\n{}",
            questions.concat()
        ));
        refinement
    }

    /// Sets the answer to a question.
    pub(super) fn on(&self, number: usize, answer: Answer) {
        self.server.on(asking(number), answer);
    }

    fn path(&self) -> PathBuf {
        self.conclave.folder().join("SPEC.md")
    }

    pub(super) fn document(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path(), text).unwrap();
    }

    fn folder(&self) -> PathBuf {
        self.conclave.folder().join("SPEC.refine")
    }

    /// Returns the events of the log.
    fn log(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.folder().join("log.jsonl")).unwrap();
        let events = log.lines().map(|line| serde_json::from_str(line).unwrap());
        events.collect()
    }

    /// Returns the names of the log's events.
    fn events(&self) -> Vec<String> {
        let log = self.log();
        let names = log.iter().map(|event| event["event"].as_str().unwrap());
        names.map(ToOwned::to_owned).collect()
    }

    /// Leaves out what the log has after the last event of this name.
    fn cut_log_after(&self, name: &str) {
        let names = self.events();
        let last = names.iter().rposition(|event| event == name).unwrap();
        let path = self.folder().join("log.jsonl");
        let log = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = log.split_inclusive('\n').take(last + 1).collect();
        std::fs::write(path, lines.concat()).unwrap();
    }

    pub(super) fn run(&self, more: &[&str]) -> RunOutput {
        self.conclave.run(&arguments(more))
    }

    pub(super) fn start(&self, more: &[&str]) -> RunningProcess {
        self.conclave.start(&arguments(more))
    }

    /// Returns the number of requests for each question.
    pub(super) fn requests(&self) -> BTreeMap<String, usize> {
        let mut requests = BTreeMap::new();
        for request in self.server.requests() {
            *requests.entry(question_of(&request.body)).or_default() += 1;
        }
        requests
    }

    /// Waits until this many requests have arrived.
    pub(super) fn wait_for_requests(&self, count: usize) {
        let description = format!("{count} requests have arrived");
        self.server
            .wait_until(&description, |requests| requests.len() >= count);
    }
}

/// Returns the arguments of a loop in place; one consultation after another, unless `more` says
/// otherwise.
fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec![
        "refine",
        "SPEC.md",
        "--in-place",
        "--panel",
        "pragmatic=openai:gpt-6.1-sol",
        "--judge",
        MODEL,
        "--rounds",
        "1",
        "--batch",
        "1",
        "--yes",
        "--json",
    ];
    if !more.contains(&"--jobs") {
        all.extend(["--jobs", "1"]);
    }
    all.extend(more);
    all
}

/// Returns the words of a question.
fn question(number: usize) -> String {
    format!("Which way is right in k{number:02}?")
}

fn entry(number: usize) -> String {
    format!("- {}", question(number))
}

/// Matches the requests about a question. The document, which has all of them, is part of each.
fn asking(number: usize) -> On {
    On::containing(&format!("Q1: {}", question(number)))
}

/// Returns the position of an expert with these lines.
fn position(lines: &str) -> Answer {
    let position = json!({
        "position": "The rules say so.",
        "key_points": ["the rules"],
        "rationale": "The rules say so.",
        "confidence": 0.8,
    });
    said(position, lines)
}

/// Returns an answer with these fields that says these lines about the document.
fn said(mut answer: Value, lines: &str) -> Answer {
    let found = findings(lines).as_object().unwrap().clone();
    let found = found.into_iter().filter(|(_, value)| {
        let is_empty = value.as_array().is_some_and(Vec::is_empty);
        !is_empty && *value != json!({})
    });
    answer.as_object_mut().unwrap().extend(found);
    Answer::text(answer.to_string())
}

/// Returns the fields of an answer that says these lines about a document: `Q1 ANSWERED: …`, `Q1
/// DISSENT: …`, `C1 CONTRADICTED: …`, `NEW: …`, `NEW BLOCKER: …`, `HIGH: …`, `MEDIUM: …`, `OPEN:
/// …`.
fn findings(lines: &str) -> Value {
    let mut found = json!({
        "answers": {}, "contradicted": [], "new_questions": [],
        "settled": [], "assumed": [], "open_questions": [],
    });
    for line in lines.lines() {
        let Some((label, text)) = line.split_once(": ") else {
            continue;
        };
        let (list, item) = match label.split_once(' ').unwrap_or((label, "")) {
            ("HIGH", _) => ("settled", text.into()),
            ("MEDIUM", _) => ("assumed", text.into()),
            ("OPEN", _) => ("open_questions", text.into()),
            ("NEW", rest) => {
                let blocker = !rest.is_empty();
                ("new_questions", json!({"text": text, "blocker": blocker}))
            }
            (claim, "CONTRADICTED") => ("contradicted", json!({"claim": claim, "reason": text})),
            (question, "DISSENT") => {
                found["answers"][question]["dissent"] = text.into();
                continue;
            }
            (question, outcome) if question.starts_with('Q') => {
                let outcome = outcome.to_lowercase();
                let answer = json!({"outcome": outcome, "text": text, "dissent": ""});
                found["answers"][question] = answer;
                continue;
            }
            _ => continue,
        };
        found[list].as_array_mut().unwrap().push(item);
    }
    found
}

pub(super) fn answered(number: usize) -> Answer {
    position(&format!("Q1 ANSWERED: {}", answer_to(number)))
}

pub(super) fn answer_to(number: usize) -> String {
    format!("Take the short way in k{number:02}.")
}

fn open() -> Answer {
    position("Q1 OPEN: Figures of the load are missing.")
}

/// Returns the number of the question that a request is about: `k03`.
fn question_of(body: &Value) -> String {
    let body = body.to_string();
    let (_, rest) = body
        .split_once("Q1: Which way is right in ")
        .expect("one question is asked");
    rest[..3].to_owned()
}

/// Returns a text without what differs from one loop to the next: the ids of consultations.
fn without_ids(text: &str) -> String {
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once("consult-") {
        plain.push_str(before);
        plain.push_str("ID");
        rest = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    }
    plain + rest
}
