//! `conclave benchmark` end to end, on the local provider server.
//!
//! Most runs have the single arm: one call a case. A case's question has its id in it, by which the
//! server tells the cases apart.

mod figures;
mod stops;
mod resume;
mod kills;
mod parts;
mod limits;
mod arms;
mod screens;
mod traces;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::{Answer, On, ProviderServer};

/// The model that answers.
const MODEL: &str = "openai:gpt-6.1-sol";

/// A run of that model, one case after another.
const ONE_BY_ONE: [&str; 7] = [
    "benchmark",
    "suite.jsonl",
    "--single",
    MODEL,
    "--jobs",
    "1",
    "--yes",
];

/// A suite with the server that answers it.
#[derive(Debug)]
struct Bench {
    server: ProviderServer,
    conclave: Conclave,
}

impl Bench {
    /// Sets up a suite of cases `q01`, `q02`, …, to which the right answer comes.
    fn of(cases: usize) -> Self {
        let server = ProviderServer::start();
        server.on(On::any(), answer("B"));
        let conclave = Conclave::at(&server);
        let bench = Self { server, conclave };
        bench.write(&(1..=cases).map(case).collect::<Vec<_>>());
        bench
    }

    fn write(&self, cases: &[Value]) {
        let lines: Vec<String> = cases.iter().map(ToString::to_string).collect();
        let path = self.conclave.folder().join("suite.jsonl");
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
    }

    /// Sets the answer to a case.
    fn on(&self, number: usize, answer: Answer) {
        self.server.on(On::containing(&id(number)), answer);
    }

    /// Answers these cases wrongly.
    fn wrong(self, numbers: &[usize]) -> Self {
        for number in numbers {
            self.on(*number, answer("A"));
        }
        self
    }

    /// Returns the arguments of a run of one model, one case after another.
    fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&ONE_BY_ONE[..], &["--json"], more].concat()
    }

    fn run(&self, more: &[&str]) -> RunOutput {
        self.conclave.run(&Self::arguments(more))
    }

    fn resume(&self, more: &[&str]) -> RunOutput {
        let resume = ["benchmark", "--resume", "last", "--json", "--yes"];
        self.conclave.run(&[&resume, more].concat())
    }

    /// Returns the number of requests for each case.
    fn requests(&self) -> BTreeMap<String, usize> {
        let mut requests = BTreeMap::new();
        for request in self.server.requests() {
            *requests.entry(case_of(&request.body)).or_default() += 1;
        }
        requests
    }

    /// Returns the folder of the only run.
    fn folder(&self) -> PathBuf {
        let mut runs = std::fs::read_dir(self.conclave.home().join("runs")).unwrap();
        let run = runs.next().unwrap().unwrap().path();
        assert!(runs.next().is_none(), "there is one run");
        run
    }

    /// Returns the state of the only run.
    fn state(&self) -> Value {
        let state = std::fs::read_to_string(self.folder().join("state.json")).unwrap();
        serde_json::from_str(&state).unwrap()
    }

    /// Cuts the log of the only run before the last event of this name, as if its process had been
    /// killed there.
    fn cut_log(&self, event: &str) {
        let log = self.folder().join("log.jsonl");
        let text = std::fs::read_to_string(&log).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines.iter().rposition(|line| line.contains(event)).unwrap();
        std::fs::write(&log, lines[..last].join("\n") + "\n").unwrap();
    }
}

fn id(number: usize) -> String {
    format!("q{number:02}")
}

fn case(number: usize) -> Value {
    json!({
        "id": id(number),
        "question": format!("Which is right in {}?", id(number)),
        "options": ["this", "that"],
        "expected": "B",
        "tags": [if number.is_multiple_of(2) { "even" } else { "odd" }],
    })
}

/// Returns the position of an expert.
fn answer(letter: &str) -> Answer {
    let position = json!({
        "position": format!("It follows from the rules.\nANSWER: {letter}"),
        "key_points": ["the rules"],
        "rationale": "The rules say so.",
        "confidence": 0.8,
        "prose_excerpt": "The rules say so.",
    });
    Answer::text(position.to_string())
}

/// Returns an answer without any use.
fn refusal() -> Answer {
    Answer::refusal("I cannot answer this.")
}

fn case_of(body: &Value) -> String {
    let body = body.to_string();
    let (_, rest) = body.split_once("right in q").expect("a case's question");
    format!("q{}", &rest[..2])
}

/// Returns the outcome of each case run, in the order of the report.
fn outcomes(report: &Value) -> Vec<String> {
    let results = report["results"].as_array().unwrap();
    let outcome = |result: &Value| {
        format!(
            "{} {} {}: {} {}",
            result["case"].as_str().unwrap(),
            result["arm"].as_str().unwrap(),
            result["repetition"],
            result["outcome"].as_str().unwrap(),
            result["answer"]["text"]
        )
    };
    results.iter().map(outcome).collect()
}
