//! `monthly_budget`: what the processes of one home spend together.

use rustix::process::Signal;
use serde_json::Value;

use crate::support::binary::{Conclave, RunningProcess};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// A process on the home of another one, with a budget in micro-dollars. Each consultation alone is
/// allowed; only the budget holds it back.
fn beside(first: &Conclave, server: &ProviderServer, budget: u64) -> Conclave {
    let budget = format!("{}.{:06}", budget / 1_000_000, budget % 1_000_000);
    Conclave::at(server)
        .variable("CONCLAVE_HOME", first.home())
        .variable("CONCLAVE_MONTHLY_BUDGET", budget)
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
    estimate["cost"]["expected"]["micro_usd"].as_u64().unwrap()
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
        assert!(output.stderr.contains(reason), "{}", output.stderr);
        let hint = "hint: raise `monthly_budget` in config.json";
        assert!(output.stderr.contains(hint), "{}", output.stderr);
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
    assert!(run.stderr.contains("monthly-budget"), "{}", run.stderr);
    assert_eq!(server.requests().len(), requests, "nothing is asked");
}
