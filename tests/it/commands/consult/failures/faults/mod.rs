//! Faults of a vendor at every stage of a consultation: message, record, exit code and requests.
//!
//! The tests are tables. Few cases run at once, so that a busy machine does not make a vendor look
//! slow.

mod ceilings;
mod circuit_breaker;
mod combined_faults;
mod fault;
mod hedges;
mod large_panel;
mod matrix;
mod noninteractive;
mod stage;
mod unusable_answers;

use std::sync::{Mutex, PoisonError};

use fault::{Fault, SILENT};
use serde_json::Value;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// The failing model.
const FAILING: &str = "anthropic:claude-sonnet-5-5";

/// Its fallback, as expert and as judge.
const FALLBACK: &str = "mistral:mistral-large-4";

/// Starts a server at which the failing model gives this answer to the numbered requests, and sets
/// up a home with all keys.
fn failing_server(
    answer: &Answer,
    requests: impl IntoIterator<Item = usize>,
) -> (ProviderServer, Conclave) {
    let server = ProviderServer::start();
    for nth in requests {
        server.on(On::vendor(Vendor::Anthropic).nth(nth), answer.clone());
    }
    let conclave = Conclave::with_all_keys(&server);
    (server, conclave)
}

fn server_with_fault(
    fault: &Fault,
    requests: impl IntoIterator<Item = usize>,
) -> (ProviderServer, Conclave) {
    let (server, conclave) = failing_server(&fault.answer, requests);
    (server, with_short_timeouts(conclave, fault))
}

/// Shortens the limits of silence for silent faults only, because a busy machine may be silent,
/// too.
fn with_short_timeouts(conclave: Conclave, fault: &Fault) -> Conclave {
    if fault.message == SILENT {
        conclave
            .variable("CONCLAVE_FIRST_BYTE_TIMEOUT_SECONDS", "2")
            .variable("CONCLAVE_IDLE_TIMEOUT_SECONDS", "2")
    } else {
        conclave
    }
}

fn arguments<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    let question = ["consult", "--yes", "Shall we?"];
    question.into_iter().chain(parts.concat()).collect()
}

/// Checks every case, a few at once; any failure fails the test.
fn check_concurrently<T: Send>(cases: Vec<T>, check: impl Fn(T) + Sync) {
    let cases = Mutex::new(cases.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                loop {
                    let next = cases.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(case) = next else { return };
                    check(case);
                }
            });
        }
    });
}

/// Asserts that the total equals the sum of all recorded calls and of every grouping, to the
/// micro-dollar and the token.
fn assert_costs_add_up(record: &Value, what: &str) {
    let counts = |spend: &Value| {
        ["/micro_usd", "/tokens/input", "/tokens/output", "/calls"]
            .map(|at| spend.pointer(at).unwrap().as_u64().unwrap())
    };
    let cost = &record["cost"];
    let rounds = record["responses"].as_object().unwrap().values();
    let agents: Vec<&Value> = rounds
        .flat_map(|round| round["agents"].as_array().unwrap())
        .collect();
    let attempts: Vec<&Value> = agents
        .iter()
        .flat_map(|agent| agent["attempts"].as_array().unwrap())
        .collect();
    let micro = |spends: &[&Value]| {
        spends
            .iter()
            .map(|spend| spend["cost"]["micro_usd"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(micro(&attempts), counts(cost)[0], "{what}: {cost}");
    assert_eq!(micro(&agents), counts(cost)[0], "{what}: {cost}");
    assert_eq!(attempts.len() as u64, counts(cost)[3], "{what}");
    let is_open = |spend: &Value| spend["lower_bound"] == true;
    for group in ["by_provider", "by_model", "by_agent", "by_round"] {
        let parts: Vec<&Value> = cost[group].as_object().unwrap().values().collect();
        let sum = |at: usize| parts.iter().map(|part| counts(part)[at]).sum::<u64>();
        assert_eq!(
            [0, 1, 2, 3].map(sum),
            counts(cost),
            "{what}: {group}: {cost}"
        );
        assert_eq!(
            parts.iter().any(|part| is_open(part)),
            is_open(cost),
            "{what}: {group}: {cost}"
        );
    }
    let unknown =
        attempts.iter().any(|attempt| is_open(&attempt["cost"])) || cost["lost_calls"] != 0;
    assert_eq!(
        is_open(cost),
        unknown,
        "{what}: the total is a lower bound if and only if a cost is unknown: {cost}"
    );
}
