//! Killed processes: after every line of the journal and at random times.

use std::collections::BTreeSet;

use conclave::consultation::event::{CallEvent, ConsultationEvent, Envelope, Event};
use conclave::records::journal::read_journal;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{finished, id_of};
use crate::support::binary::Conclave;
use crate::support::comparable::comparable;
use crate::support::in_flight::{end_with_calls_in_flight, most_output_cost, stalling_server};
use crate::support::model_requests::model_requests;
use crate::support::provider_server::ProviderServer;
use crate::support::saved::log_folder;

/// Sets up a home with the beginning of a journal, as a killed process leaves it.
fn home_with(server: &ProviderServer, id: &str, journal: &str) -> Conclave {
    let conclave = Conclave::at(server);
    std::fs::create_dir_all(log_folder(&conclave)).unwrap();
    std::fs::write(log_folder(&conclave).join(format!("{id}.jsonl")), journal).unwrap();
    conclave
}

/// Runs a whole consultation and returns its id, journal and record.
fn whole_consultation() -> (String, String, Value) {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let journal = conclave.log("jsonl");
    (
        id_of(&journal),
        std::fs::read_to_string(&journal).unwrap(),
        comparable(conclave.record()),
    )
}

#[test]
fn resume_after_each_kind_of_event_yields_the_same_record() {
    let (id, journal, expected) = whole_consultation();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    let kind = |line: &str| serde_json::from_str::<Value>(line).unwrap()["type"].to_string();
    let mut kinds = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        // The machine is resumed after every event in its own tests.
        if !kinds.insert(kind(line)) && at + 1 < lines.len() {
            continue;
        }
        let whole = lines[..=at].concat();
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let torn = next.split_at(next.len() / 2).0;
        let server = ProviderServer::start();
        let conclave = home_with(&server, &id, &(whole.clone() + torn));
        let answers = finished(&read_journal(&conclave.log("jsonl")).unwrap());
        conclave.run(&["resume", "-q"]).ends_with(0);
        assert_eq!(server.requests().len(), 9 - answers, "killed after {line}");
        assert_eq!(
            comparable(conclave.record()),
            expected,
            "killed after {line}"
        );
        let resumed = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
        assert!(resumed.starts_with(&whole), "killed after {line}");
    }
}

/// Returns the finished calls of a journal by model and kind of answer.
fn finished_calls(events: &[Envelope]) -> Vec<(String, &'static str)> {
    let finished = events.iter().filter_map(|envelope| match &envelope.event {
        Event::Call(CallEvent::Finished(finished)) => {
            Some((finished.model.model.clone(), finished.answer.name()))
        }
        _ => None,
    });
    finished.collect()
}

#[test]
fn resume_after_a_kill_at_any_time_repeats_no_answer() {
    let times = std::env::vars()
        .find(|(name, _)| name == "CONCLAVE_TEST_KILLS")
        .map_or(6, |(_, value)| value.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(4);
    for number in 0..times {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let arrivals = 1 + number % 9;
        let running = conclave.start(&["consult", "Shall we?"]);
        server.wait_until("the requests have arrived", |requests| {
            requests.len() >= arrivals
        });
        // A random time further on.
        for _ in 0..random.u32(0..4_000) {
            std::thread::yield_now();
        }
        running.signal(Signal::KILL);
        running.wait();
        let events = read_journal(&conclave.log("jsonl")).unwrap();
        let answers = finished_calls(&events);
        let resumed = conclave.run(&["resume", "-q"]);
        let is_end = |event: &Event| {
            matches!(
                event,
                Event::Consultation(ConsultationEvent::Completed { .. })
            )
        };
        let is_complete = events.iter().any(|envelope| is_end(&envelope.event));
        if is_complete && resumed.code == Some(2) {
            // The process was killed after it had saved everything.
            resumed.assert_stderr_contains("there is no consultation to resume");
        } else {
            resumed.ends_with(0);
        }
        let requests = model_requests(&server);
        for (model, kind) in answers {
            let same = requests
                .iter()
                .filter(|request| request.model == model && request.answer == kind);
            assert_eq!(same.count(), 1, "kill {number}: {kind} of {model}");
        }
        let record = conclave.record();
        assert_eq!(record["status"], "complete", "kill {number}");
        assert_eq!(record["cost"]["calls"], 9, "kill {number}");
        let rounds = &record["completed_rounds"];
        assert_eq!(*rounds, json!([1, 2, 3, 4]), "kill {number}");
        assert_eq!(record["degradations"], json!([]), "kill {number}");
    }
}

#[test]
fn ceiling_that_is_given_on_resume_counts_lost_calls() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    let consult = [
        "consult",
        "--panel",
        "pragmatic=openai:gpt-6.1-sol",
        "--judge",
        "openai:gpt-6.1-sol",
        "Shall we?",
    ];
    let resume = ["resume", "--max-cost", "0.6"];
    let (output, ended) = end_with_calls_in_flight(&server, &[Signal::KILL], |number| {
        conclave.start(if number == 0 { &consult } else { &resume })
    });
    let output = output.ends_with(4);
    let cost = most_output_cost(&server);
    assert!(cost <= 600_000, "{cost} micro-dollars");
    assert!(ended >= 3, "{ended} processes");
    output.assert_stderr_contains(" counts as spent, and openai:gpt-6.1-sol could cost up to $");
}
