//! A run on a fleet is the run that one machine would have had, from whichever machine.

use std::time::Duration;

use rustix::process::Signal;

use super::workers::jetstream;
use super::*;
use crate::support::provider_server::{Hold, Vendor};

/// Returns the results of a report without what differs between any two runs.
fn steady(report: &Value) -> Vec<Value> {
    let mut results = report["results"].as_array().unwrap().clone();
    for result in &mut results {
        for name in ["consultations", "duration_ms"] {
            result.as_object_mut().unwrap().remove(name);
        }
    }
    results.sort_by_key(|result| result["case"].as_str().unwrap().to_owned());
    results
}

#[test]
fn results_are_those_of_one_machine() {
    let Some(fleet) = Fleet::of(2, 12) else {
        return;
    };
    fleet
        .server
        .on(On::containing("q005"), Answer::refusal("no"));
    let here = Conclave::at(&fleet.server);
    write_suite(&here, 12);
    let local = here.run(&benchmark(&[])).ends_with(0).json();
    let report = fleet.submitter.run(&benchmark(&[])).ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 12);
    assert_eq!(steady(&report), steady(&local));
    // The same files, and as many lines in them.
    assert_eq!(
        paid(&fleet.submitter).into_values().collect::<Vec<_>>(),
        paid(&here).into_values().collect::<Vec<_>>()
    );
    let list = |conclave: &Conclave| conclave.run(&["ls", "--json"]).ends_with(0).json();
    let length = |list: Value| list.as_array().map(Vec::len);
    assert_eq!(length(list(&fleet.submitter)), length(list(&here)));
    assert_eq!(fleet.run_status()["state"], "ended");
    // It has ended: the same command begins another run.
    fleet.submitter.run(&benchmark(&[])).ends_with(0);
    assert_eq!(fleet.status()["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn two_submitters_of_a_suite_have_one_run_and_pay_once() {
    let Some(fleet) = Fleet::of(2, 30) else {
        return;
    };
    let other = member(&fleet.nats, Conclave::new());
    write_suite(&other, 30);
    fleet
        .server
        .on(On::any(), right().delay(Duration::from_millis(100)));
    // At the same moment: neither knows of the other when it looks.
    let [first, second] = [&fleet.submitter, &other].map(|it| it.start(&benchmark(&[])));
    let reports = [first, second].map(|run| run.wait().ends_with(0).json());
    assert_eq!(reports[0]["run_id"], reports[1]["run_id"]);
    assert_eq!(steady(&reports[0]), steady(&reports[1]));
    assert_eq!(fleet.requests().len(), 30);
    assert!(fleet.requests().values().all(|requests| *requests == 1));
    assert_eq!(paid(&fleet.submitter), paid(&other));
    assert_eq!(paid(&other).len(), 30);
}

#[test]
fn killed_submitter_is_followed_by_one_on_another_machine() {
    let Some(fleet) = Fleet::of(2, 20) else {
        return;
    };
    fleet
        .server
        .on(On::any(), right().delay(Duration::from_millis(50)));
    let first = fleet.submitter.start(&benchmark(&["--max-cost", "5"]));
    fleet
        .server
        .wait_until("it asks", |requests| requests.len() > 5);
    drop(first);
    let run = fleet.run_status()["run"].as_str().unwrap().to_owned();
    let other = member(&fleet.nats, Conclave::new());
    write_suite(&other, 20);
    let resume = ["benchmark", "resume", &run, "--yes", "--json"];
    // Its suite lies where it lay on the first machine.
    let report = other.run(&resume).ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 20);
    assert!(fleet.requests().values().all(|requests| *requests == 1));
    assert_eq!(paid(&other).len(), 20);
    let local = other.without("CONCLAVE_FLEET");
    let refused = local.run(&["benchmark", "resume", &run]).ends_with(2);
    refused.assert_stderr_contains("is complete");
}

#[test]
fn interrupts_stop_a_run_here_and_then_there() {
    let Some(fleet) = Fleet::of(1, 40) else {
        return;
    };
    let hold = Hold::new();
    fleet.server.on(On::any(), right().held_by(&hold));
    let run = fleet.submitter.start(&benchmark(&[]));
    fleet
        .server
        .wait_until("it asks", |requests| requests.len() >= 4);
    run.signal(Signal::INT);
    run.wait_until("it stops", |stderr| stderr.contains("Ctrl-C again"));
    // What no worker has begun is withdrawn, what has begun goes on.
    let (runtime, server) = jetstream(&fleet.nats);
    let queued = async || {
        let jobs = server.get_stream("conclave_jobs").await.unwrap();
        jobs.get_info().await.unwrap().state.messages
    };
    until("nothing waits", || runtime.block_on(queued()) == 4);
    run.signal(Signal::INT);
    run.wait().ends_with(130);
    let status = fleet.run_status();
    assert_eq!(status["state"], "cancelled", "{status:#}");
    hold.release();
    let resumed = fleet.submitter.run(&benchmark(&[])).ends_with(0).json();
    assert_eq!(outcomes(&resumed).len(), 40);
    assert_eq!(fleet.run_status()["state"], "ended");
}

#[test]
fn run_that_is_cancelled_elsewhere_stops_and_can_be_resumed() {
    let Some(fleet) = Fleet::of(1, 10) else {
        return;
    };
    let hold = Hold::new();
    fleet.server.on(On::any(), right().held_by(&hold));
    let run = fleet.submitter.start(&benchmark(&[]));
    fleet
        .server
        .wait_until("it asks", |requests| requests.len() >= 4);
    let id = fleet.run_status()["run"].as_str().unwrap().to_owned();
    let cancelled = fleet.submitter.run(&["fleet", "cancel", &id]).ends_with(0);
    cancelled.assert_stderr_contains("is cancelled");
    let output = run.wait().ends_with(130);
    output.assert_stderr_contains("The run is cancelled in the fleet");
    hold.release();
    let resumed = fleet
        .submitter
        .run(&["benchmark", "resume", &id, "--yes", "--json"]);
    assert_eq!(outcomes(&resumed.ends_with(0).json()).len(), 10);
    let unknown = fleet
        .submitter
        .run(&["fleet", "cancel", "nothing"])
        .ends_with(2);
    unknown.assert_stderr_contains("the fleet has no run `nothing`");
}

#[test]
fn what_one_submitter_withdraws_is_done_for_the_other() {
    let Some(fleet) = Fleet::of(1, 12) else {
        return;
    };
    let hold = Hold::new();
    fleet.server.on(On::any(), right().held_by(&hold));
    let run = fleet.submitter.start(&benchmark(&[]));
    fleet
        .server
        .wait_until("it asks", |requests| requests.len() >= 4);
    let other = member(&fleet.nats, Conclave::new());
    write_suite(&other, 12);
    let follower = other.start(&benchmark(&[]));
    follower.wait_until("it joins", |stderr| stderr.contains("has this run already"));
    run.signal(Signal::INT);
    run.wait_until("it stops", |stderr| stderr.contains("Ctrl-C again"));
    hold.release();
    run.wait().ends_with(130);
    let report = follower.wait().ends_with(0).json();
    assert_eq!(outcomes(&report).len(), 12);
    assert!(fleet.requests().values().all(|requests| *requests == 1));
}

#[test]
fn answers_that_no_grader_was_asked_about_are_graded_when_the_run_is_resumed() {
    let Some(fleet) = Fleet::of(1, 0) else {
        return;
    };
    let case = |number| {
        let question = format!("Which is right in q{number:03}?");
        json!({"id": format!("q{number:03}"), "question": question, "expected": "B", "match": "judge"})
    };
    let suite: Vec<String> = (1..=3).map(|number| case(number).to_string()).collect();
    fs::write(
        fleet.submitter.folder().join("suite.jsonl"),
        suite.join("\n"),
    )
    .unwrap();
    let hold = Hold::new();
    fleet.server.on(On::any(), right().held_by(&hold));
    let grader = || On::vendor(Vendor::Anthropic);
    fleet.server.on(grader(), says("RIGHT"));
    let judged = benchmark(&["--grader", "anthropic:claude-opus-5-5"]);
    let run = fleet.submitter.start(&judged);
    fleet
        .server
        .wait_until("it asks", |requests| requests.len() >= 3);
    run.signal(Signal::INT);
    run.wait_until("it stops", |stderr| stderr.contains("Ctrl-C again"));
    hold.release();
    run.wait().ends_with(130);
    assert!(fleet.server.requests_to(Vendor::Anthropic).is_empty());
    let report = fleet.submitter.run(&judged).ends_with(0).json();
    let approved = outcomes(&report)
        .into_values()
        .filter(|it| it == "approved");
    assert_eq!(approved.count(), 3, "{report:#}");
    assert_eq!(fleet.server.requests().len(), 6);
}

#[test]
fn run_continues_only_where_it_began() {
    let Some(fleet) = Fleet::of(1, 6) else {
        return;
    };
    let hold = Hold::new();
    fleet.server.on(On::any(), right().held_by(&hold));
    let run = fleet.submitter.start(&benchmark(&[]));
    fleet
        .server
        .wait_until("it asks", |requests| requests.len() >= 4);
    run.signal(Signal::INT);
    run.wait_until("it stops", |stderr| stderr.contains("Ctrl-C again"));
    run.signal(Signal::INT);
    run.wait().ends_with(130);
    let id = fleet.run_status()["run"].as_str().unwrap().to_owned();
    let elsewhere = NatsServer::start().unwrap();
    let submitter = fleet.submitter.variable("CONCLAVE_FLEET", elsewhere.url());
    let resume = ["benchmark", "resume", &id, "--yes"];
    let its_own = format!("{id} is a run of the fleet {}", fleet.nats.url());
    let other = submitter.run(&resume).ends_with(2);
    other.assert_stderr_contains(&its_own);
    let local = submitter.without("CONCLAVE_FLEET");
    let local = local.run(&resume).ends_with(2);
    local.assert_stderr_contains(&its_own);
}
