//! Runs on a fleet: the binary as submitter and as workers, with a real NATS server between them and
//! the provider server behind. Skipped, with a sentence, where there is no NATS server.

mod runs;
mod money;
mod failures;
mod workers;
mod loops;

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::support::binary::{Conclave, RunningProcess};
use crate::support::nats::NatsServer;
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::timeout::until;

/// The model that answers alone.
const MODEL: &str = "openai:gpt-6.1-sol";

/// Seconds after which a silent worker has lost its jobs.
const LEASE: &str = "2";
/// On a busy machine a worker may be silent for longer, and a call that is lost with it counts at its
/// worst case: where each amount is exact, no worker is lost.
const LONG_LEASE: &str = "30";

/// A fleet, and a suite to be run on it.
struct Fleet {
    nats: NatsServer,
    server: ProviderServer,
    workers: Vec<Worker>,
    lease: &'static str,
    /// Submits, without any key.
    submitter: Conclave,
}

/// A worker in a home of its own.
struct Worker {
    conclave: Conclave,
    process: RunningProcess,
}

impl Fleet {
    /// Starts this many workers for a suite of cases `q001`, `q002`, …, all of which are answered
    /// right. `None` without a NATS server.
    fn of(workers: usize, cases: usize) -> Option<Self> {
        Some(Self::on(NatsServer::start()?, workers, cases))
    }

    /// As [`Self::of`], where no worker is lost.
    fn steady(workers: usize, cases: usize) -> Option<Self> {
        Some(Self::with_lease(
            LONG_LEASE,
            NatsServer::start()?,
            workers,
            cases,
        ))
    }

    fn on(nats: NatsServer, workers: usize, cases: usize) -> Self {
        Self::with_lease(LEASE, nats, workers, cases)
    }

    fn with_lease(lease: &'static str, nats: NatsServer, workers: usize, cases: usize) -> Self {
        let server = ProviderServer::start();
        server.on(On::any(), right());
        let mut fleet = Self {
            submitter: member(&nats, Conclave::new()).variable("CONCLAVE_FLEET_LEASE", lease),
            nats,
            lease,
            server,
            workers: Vec::new(),
        };
        write_suite(&fleet.submitter, cases);
        for _ in 0..workers {
            fleet.hire(&[]);
        }
        fleet.join(workers);
        fleet
    }

    fn hire(&mut self, flags: &[&str]) {
        let conclave = Conclave::at(&self.server);
        self.hire_as(conclave, flags);
    }

    fn hire_as(&mut self, conclave: Conclave, flags: &[&str]) {
        let conclave = member(&self.nats, conclave);
        let conclave = conclave.variable("CONCLAVE_FLEET_LEASE", self.lease);
        let process = conclave.start(&[&["worker"], flags].concat());
        self.workers.push(Worker { conclave, process });
    }

    /// Waits until this many workers are known.
    fn join(&self, workers: usize) {
        until("the workers have joined", || {
            self.status()["workers"].as_object().unwrap().len() == workers
        });
    }

    fn status(&self) -> Value {
        let status = self.submitter.run(&["fleet", "status", "--json"]);
        status.ends_with(0).json()
    }

    /// Returns what the fleet knows of the only run.
    fn run_status(&self) -> Value {
        let status = self.status();
        let runs = status["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 1, "{status:#}");
        runs[0].clone()
    }

    /// Returns the number of requests for each case.
    fn requests(&self) -> BTreeMap<String, usize> {
        let mut requests = BTreeMap::new();
        for request in self.server.requests() {
            *requests.entry(case_of(&request.body)).or_default() += 1;
        }
        requests
    }
}

fn write_suite(of: &Conclave, cases: usize) {
    let case = |number| {
        json!({
            "id": format!("q{number:03}"),
            "question": format!("Which is right in q{number:03}?"),
            "options": ["this", "that"],
            "expected": "B",
        })
    };
    let lines: Vec<String> = (1..=cases).map(|number| case(number).to_string()).collect();
    fs::write(of.folder().join("suite.jsonl"), lines.join("\n") + "\n").unwrap();
}

/// Makes a home that is a part of the fleet.
fn member(nats: &NatsServer, conclave: Conclave) -> Conclave {
    let conclave = conclave.variable("CONCLAVE_FLEET", nats.url());
    conclave.variable("CONCLAVE_FLEET_LEASE", LEASE)
}

/// The command that runs the suite, each case by one call.
fn benchmark<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let run = [
        "benchmark",
        "suite.jsonl",
        "--single",
        MODEL,
        "--yes",
        "--json",
    ];
    let unlimited = ["--max-attempts", "off"];
    [&run[..], &unlimited, more].concat()
}

/// Returns the position of an expert that answers right.
fn right() -> Answer {
    says("B")
}

fn says(answer: &str) -> Answer {
    let position = json!({
        "position": format!("It follows from the rules.\nANSWER: {answer}"),
        "key_points": ["the rules"],
        "rationale": "The rules say so.",
        "confidence": 0.8,
        "prose_excerpt": "The rules say so.",
    });
    Answer::text(position.to_string())
}

fn case_of(body: &Value) -> String {
    let body = body.to_string();
    let (_, rest) = body.split_once("right in q").expect("a case's question");
    format!("q{}", &rest[..3])
}

/// Returns the outcomes of a report by case.
fn outcomes(report: &Value) -> BTreeMap<String, String> {
    let results = report["results"].as_array().unwrap();
    let outcome = |result: &Value| {
        let text = |name: &str| result[name].as_str().unwrap_or_default().to_owned();
        (text("case"), text("outcome"))
    };
    results.iter().map(outcome).collect()
}

/// Returns the number of finished calls in each journal of a home.
fn paid(conclave: &Conclave) -> BTreeMap<String, usize> {
    let logs = fs::read_dir(conclave.home().join("consult-logs")).unwrap();
    let journals = logs.map(|file| file.unwrap().path());
    let journals = journals.filter(|file| file.extension().is_some_and(|it| it == "jsonl"));
    let calls = |file: std::path::PathBuf| {
        let journal = fs::read_to_string(&file).unwrap();
        let id = file.file_stem().unwrap().to_string_lossy().into_owned();
        (id, journal.matches("\"call:finished\"").count())
    };
    journals.map(calls).collect()
}
