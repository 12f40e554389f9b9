//! `monthly_budget`: what the processes of one home spend together.

use rustix::process::Signal;
use serde_json::Value;

use crate::support::binary::{Conclave, RunningProcess};
use crate::support::in_flight::{
    amounts, dollars, end_with_calls_in_flight, journals, least_reserve, most_output_cost,
    stalling_server,
};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};
use crate::support::timeout::until;

/// A process on the home of another one, with a budget in micro-dollars. Each consultation alone is
/// allowed; only the budget holds it back.
fn beside(first: &Conclave, server: &ProviderServer, budget: u64) -> Conclave {
    Conclave::at(server)
        .variable("CONCLAVE_HOME", first.home())
        .variable("CONCLAVE_MONTHLY_BUDGET", dollars(budget))
}

/// The cost of each consultation in the home, in micro-dollars.
fn costs(conclave: &Conclave) -> Vec<u64> {
    let logs = std::fs::read_dir(conclave.home().join("consult-logs")).unwrap();
    let paths = logs.map(|entry| entry.unwrap().path());
    let records = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let cost = |path| {
        let record: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        record["cost"]["micro_usd"].as_u64().unwrap()
    };
    records.map(cost).collect()
}

/// The expected cost of a consultation.
fn estimate(conclave: &Conclave) -> u64 {
    let json = conclave.run(&["consult", "--dry-run", "--format", "json", "Shall we?"]);
    let estimate = json.ends_with(0).json();
    estimate["cost"]["micro_usd"].as_u64().unwrap()
}

#[test]
fn processes_never_exceed_the_monthly_budget_together() {
    let server = ProviderServer::start();
    // Answers of the expected length cost about as much as the estimate.
    server.on(On::any(), Answer::valid().usage(2_000, 2_000));
    let home = Conclave::at(&server).config("{}");
    // Enough for one and a half of the twenty, so that each is below the budget by itself.
    let budget = estimate(&home) * 3 / 2;
    let arguments = ["consult", "--quiet", "Shall we?"];
    let processes: Vec<Conclave> = (0..20).map(|_| beside(&home, &server, budget)).collect();
    let running: Vec<_> = processes
        .iter()
        .map(|process| process.start(&arguments))
        .collect();
    let outputs: Vec<_> = running.into_iter().map(RunningProcess::wait).collect();
    let spent: u64 = costs(&home).iter().sum();
    assert!(spent <= budget, "{spent} of {budget} micro-dollars");
    assert!(spent > 0);
    let stopped: Vec<_> = outputs.iter().filter(|out| out.code == Some(4)).collect();
    assert!(!stopped.is_empty(), "not all of them fit");
    for output in stopped {
        let reason = "error: The monthly budget of $";
        output.assert_stderr_contains(reason);
        let hint = "hint: raise `monthly_budget` in config.json";
        output.assert_stderr_contains(hint);
    }
}

#[test]
fn reservations_of_a_killed_process_are_released() {
    let server = ProviderServer::start();
    let stalled = Answer::text("never to be finished").stall();
    server.on(On::vendor(Vendor::OpenAi).nth(2), stalled);
    let home = Conclave::at(&server).config("{}");
    let process = beside(&home, &server, 5_000_000);
    let running = process.start(&["consult", "Shall we?"]);
    server.wait_until("the judge is asked", |requests| requests.len() == 4);
    running.signal(Signal::KILL);
    running.wait();
    let database = home.home().join("monthly-budget/spending.db");
    let rows = || {
        let database = rusqlite::Connection::open(&database).unwrap();
        let count = |row: &rusqlite::Row<'_>| row.get::<_, u64>(0);
        database
            .query_row("SELECT count(*) FROM processes", [], count)
            .unwrap()
    };
    assert_eq!(rows(), 1, "the call in flight is reserved");
    process.run(&["consult", "Shall we?"]).ends_with(0);
    assert_eq!(rows(), 0, "its journal has it");
}

#[test]
fn damaged_budget_file_stops_the_run_before_any_spending() {
    let server = ProviderServer::start();
    let home = Conclave::at(&server).config("{}");
    let process = beside(&home, &server, 5_000_000);
    process.run(&["consult", "Shall we?"]).ends_with(0);
    let requests = server.requests().len();
    let folder = home.home().join("monthly-budget");
    std::fs::write(folder.join("spending.db"), "garbage").unwrap();
    let run = process.run(&["consult", "Shall we?"]).ends_with(2);
    run.assert_stderr_contains("monthly-budget");
    assert_eq!(server.requests().len(), requests, "nothing is asked");
}

/// A consultation of one expert and a judge, which needs no consent.
const CONSULT: [&str; 9] = [
    "consult",
    "--panel",
    "pragmatic=openai:gpt-6.1-sol",
    "--judge",
    "openai:gpt-6.1-sol",
    "--rounds",
    "2",
    "--quiet",
    "Shall we?",
];

#[test]
fn calls_in_flight_of_ended_processes_count_under_the_budget() {
    for signals in [&[Signal::KILL][..], &[Signal::INT]] {
        for next in [&["resume"][..], &CONSULT] {
            let server = stalling_server();
            let home = Conclave::at(&server).config(r#"{"always_allow_under": 100}"#);
            let (output, ended) = end_with_calls_in_flight(&server, signals, |number| {
                let process = beside(&home, &server, 600_000);
                process.start(if number == 0 { &CONSULT } else { next })
            });
            // What is left does not pay for the rest, or not for another call.
            assert!(
                [Some(3), Some(4)].contains(&output.code),
                "{}",
                output.stderr
            );
            let cost = most_output_cost(&server);
            assert!(cost <= 600_000, "{cost} micro-dollars");
            assert!(ended >= 3, "{ended} processes");
        }
    }
}

#[test]
fn budget_counts_each_call_of_an_interrupted_consultation() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().usage(1_000, 4_000));
    let whole = Conclave::at(&server);
    whole.run(&CONSULT).ends_with(0);
    let [journal] = journals(&whole.home()).try_into().unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    let id = whole.log("jsonl");
    let id = id.file_name().unwrap();
    let mut counted = None;
    for length in 1..=lines.len() {
        let kept = lines[..length].concat();
        let calls = amounts(&kept);
        // Only calls count: an event of no call changes nothing.
        if counted.replace(calls.clone()).as_ref() == Some(&calls) && length < lines.len() {
            continue;
        }
        let used: u64 = calls.iter().sum();
        let home = Conclave::at(&server).config(r#"{"always_allow_under": 100}"#);
        let logs = home.home().join("consult-logs");
        std::fs::create_dir_all(&logs).unwrap();
        std::fs::write(logs.join(id), &kept).unwrap();
        let before = server.requests().len();
        let budget = used + least_reserve(&journal) - 1;
        let output = beside(&home, &server, budget).run(&["resume"]);
        let place = format!("after {length} lines: {}", output.stderr);
        assert_eq!(server.requests().len(), before, "{place}");
        let is_answered = kept.matches("call:finished").count() == 2;
        assert_eq!(output.code == Some(0), is_answered, "{place}");
    }
}

#[test]
fn lost_calls_of_a_resumed_consultation_count_for_processes_beside_it() {
    let server = stalling_server();
    let home = Conclave::at(&server).config(r#"{"always_allow_under": 100}"#);
    let process = |arguments: &[&str]| beside(&home, &server, 540_000).start(arguments);
    let asked = |count: usize| {
        server.wait_until("it is asked", |requests| requests.len() == count);
    };
    let killed = process(&CONSULT);
    asked(1);
    killed.signal(Signal::KILL);
    killed.wait();
    let resumed = process(&["resume"]);
    asked(2);
    let beside = process(&CONSULT);
    asked(3);
    // The lost call and the two in flight leave no room for a fourth.
    let last = process(&CONSULT);
    let lock = home.home().join("monthly-budget/4.lock");
    until("it has opened the budget", || lock.exists());
    for running in [resumed, beside] {
        running.signal(Signal::KILL);
        running.wait();
    }
    last.wait().ends_with(3);
    assert_eq!(server.requests().len(), 3);
}
