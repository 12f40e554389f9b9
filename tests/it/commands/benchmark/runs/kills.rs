//! Runs whose process ends in the middle: by Ctrl-C, by `kill -9`, and beside another process.

use rustix::process::Signal;

use super::{Bench, answer, case};
use crate::support::binary::{Conclave, RunningProcess};
use crate::support::in_flight::{end_with_calls_in_flight, most_output_cost, stalling_server};
use crate::support::provider_server::Hold;

/// Starts a run whose answers are held back from one case on, with this many at once. Returns when
/// all of these are asked.
fn held_run(bench: &Bench, from: usize, jobs: usize) -> (RunningProcess, Hold) {
    let hold = Hold::new();
    for number in from..=12 {
        bench.on(number, answer("B").held_by(&hold));
    }
    let jobs_text = jobs.to_string();
    let arguments = Bench::arguments(&[]);
    let mut arguments: Vec<&str> = arguments.into_iter().collect();
    let place = arguments.iter().position(|word| *word == "1").unwrap();
    arguments[place] = &jobs_text;
    let running = bench.conclave.start(&arguments);
    let asked = from - 1 + jobs;
    bench
        .server
        .wait_until("the held cases are asked", |requests| {
            requests.len() == asked
        });
    (running, hold)
}

#[test]
fn killed_run_repeats_at_most_what_was_in_flight() {
    for (from, jobs) in [(1, 1), (6, 3)] {
        let bench = Bench::of(12);
        let (running, hold) = held_run(&bench, from, jobs);
        let beside = bench.resume(&[]).ends_with(2);
        beside.assert_stderr_contains("is being run by another process");
        running.signal(Signal::KILL);
        assert_eq!(running.wait().code, None);
        let listed = bench.conclave.run(&["benchmark", "list"]).ends_with(0);
        assert!(listed.stdout.contains("interrupted"), "{}", listed.stdout);

        hold.release();
        let report = bench.resume(&[]).ends_with(0).json();
        assert_eq!(report["statistics"]["cases_approved"], 12);
        for (case, requests) in bench.requests() {
            let number: usize = case[1..].parse().unwrap();
            let was_in_flight = (from..from + jobs).contains(&number);
            assert_eq!(requests, 1 + usize::from(was_in_flight), "{case}");
        }
    }
}

#[test]
fn first_ctrl_c_finishes_what_is_in_flight() {
    let bench = Bench::of(12);
    let (running, hold) = held_run(&bench, 3, 2);
    running.signal(Signal::INT);
    running.wait_until("it stops", |stderr| stderr.contains("press Ctrl-C again"));
    hold.release();
    let output = running.wait().ends_with(130);
    assert_eq!(output.json()["statistics"]["cases_approved"], 4);
    output.assert_stderr_contains("hint: resume it with `conclave benchmark --resume bench-");
    assert_eq!(bench.server.requests().len(), 4);
    let report = bench.resume(&[]).ends_with(0).json();
    assert_eq!(report["statistics"]["cases_approved"], 12);
    assert_eq!(bench.server.requests().len(), 12);
}

#[test]
fn second_ctrl_c_cancels_the_calls_in_flight() {
    let bench = Bench::of(12);
    let (running, hold) = held_run(&bench, 3, 2);
    running.signal(Signal::INT);
    running.wait_until("it stops", |stderr| stderr.contains("press Ctrl-C again"));
    running.signal(Signal::INT);
    let output = running.wait().ends_with(130);
    let report = output.json();
    assert_eq!(report["statistics"]["cases_approved"], 2);
    assert_eq!(report["stop_reason"]["condition"], "INTERRUPTED");
    hold.release();
    let report = bench.resume(&[]).ends_with(0).json();
    assert_eq!(report["statistics"]["cases_approved"], 12);
    assert_eq!(report["statistics"]["attempts"], 12, "journals are resumed");
}

#[test]
fn finished_consultation_that_was_not_logged_is_taken_over() {
    let bench = Bench::of(3);
    bench.run(&[]).ends_with(0);
    bench.cut_log("case_run_finished");
    let report = bench.resume(&[]).ends_with(0).json();
    assert_eq!(report["statistics"]["cases_approved"], 3);
    assert_eq!(bench.server.requests().len(), 3);
    for result in report["results"].as_array().unwrap() {
        assert_ne!(result["duration_ms"], 0, "{}", result["case"]);
    }
}

#[test]
fn calls_in_flight_of_ended_processes_count_under_the_ceiling() {
    for signals in [&[Signal::KILL][..], &[Signal::INT, Signal::INT]] {
        let server = stalling_server();
        let conclave = Conclave::at(&server);
        let bench = Bench { server, conclave };
        bench.write(&(1..=4).map(case).collect::<Vec<_>>());
        let (output, ended) = end_with_calls_in_flight(&bench.server, signals, |number| {
            if number == 0 {
                bench
                    .conclave
                    .start(&Bench::arguments(&["--max-cost", "0.6"]))
            } else {
                bench
                    .conclave
                    .start(&["benchmark", "--resume", "last", "--json", "--yes"])
            }
        });
        let output = output.ends_with(4);
        let cost = most_output_cost(&bench.server);
        assert!(cost <= 600_000, "{cost} micro-dollars");
        assert!(ended >= 3, "{ended} processes");
        output.assert_stderr_contains("calls whose cost is unknown count $0.");
        output.assert_stderr_contains("ceiling");
    }
}
