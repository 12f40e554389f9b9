//! Processes that end with calls in flight, and what these calls can have cost.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::binary::{RunOutput, RunningProcess};
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::timeout::until;

/// The price of an output token of `openai:gpt-6.1-sol`, in micro-dollars.
const OUTPUT_PRICE: u64 = 10;

/// How often a process is ended: more often than any ceiling of these tests allows.
const MAX_PROCESSES: usize = 20;

/// Starts a server whose answers never end.
pub(crate) fn stalling_server() -> ProviderServer {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::text("never to be finished").stall());
    server
}

/// Starts processes, and ends each by these signals once it has asked something. Returns the output
/// of the one that ends by itself, and the number of those before.
pub(crate) fn end_with_calls_in_flight(
    server: &ProviderServer,
    signals: &[Signal],
    start: impl Fn(usize) -> RunningProcess,
) -> (RunOutput, usize) {
    for number in 0..MAX_PROCESSES {
        let before = server.requests().len();
        let running = start(number);
        until("a call or the end", || {
            running.has_ended() || server.requests().len() > before
        });
        if running.has_ended() && server.requests().len() == before {
            return (running.wait(), number);
        }
        for (nth, signal) in signals.iter().enumerate() {
            if nth > 0 {
                running.wait_until("it stops", |stderr| stderr.contains("press Ctrl-C again"));
            }
            running.signal(*signal);
        }
        running.wait();
    }
    panic!("no process ends by itself");
}

/// Returns what the output of all requests can cost at the price of `openai:gpt-6.1-sol`, in
/// micro-dollars: they are never answered, and their prompts come on top.
pub(crate) fn most_output_cost(server: &ProviderServer) -> u64 {
    let requests = server.requests();
    let limit = |body: &Value| body["max_completion_tokens"].as_u64().unwrap();
    requests
        .iter()
        .map(|request| limit(&request.body) * OUTPUT_PRICE)
        .sum()
}

/// Returns the amounts of a journal's calls, in micro-dollars: the worst case of those that have
/// not finished, and the cost of the others. A torn last line does not count.
pub(crate) fn amounts(journal: &str) -> Vec<u64> {
    let mut calls = BTreeMap::new();
    for line in journal.lines() {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            break;
        };
        let data = &event["data"];
        let amount = match event["type"].as_str().unwrap() {
            "call:started" => &data["worst_case"],
            "call:finished" => &data["cost"],
            _ => continue,
        };
        let amount = amount["micro_usd"].as_u64().unwrap();
        calls.insert(data["call"].as_u64().unwrap(), amount);
    }
    calls.into_values().collect()
}

/// Returns the least that a ceiling must have left for a call in a journal, in micro-dollars: its
/// worst case with an output limit of twice the usual 2,000 tokens.
pub(crate) fn least_reserve(journal: &str) -> u64 {
    let started = journal.lines().filter(|line| line.contains("call:started"));
    let least = started.map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        let limit = event["data"]["max_output_tokens"].as_u64().unwrap();
        event["data"]["worst_case"]["micro_usd"].as_u64().unwrap() - (limit - 4_000) * OUTPUT_PRICE
    });
    least.min().unwrap()
}

/// Returns an amount as a flag or a setting has it.
pub(crate) fn dollars(micro_usd: u64) -> String {
    format!("{}.{:06}", micro_usd / 1_000_000, micro_usd % 1_000_000)
}

/// Returns the journals of a home, in the order in which they began.
pub(crate) fn journals(home: &Path) -> Vec<String> {
    let logs = std::fs::read_dir(home.join("consult-logs")).unwrap();
    let paths = logs.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    paths.sort();
    let journals = paths.iter().map(std::fs::read_to_string);
    journals.map(Result::unwrap).collect()
}
