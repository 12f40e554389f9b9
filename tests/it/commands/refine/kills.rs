//! Loops whose process ends in the middle: by Ctrl-C, by `kill -9`, and beside another process.

use rustix::process::Signal;
use serde_json::Value;

use super::{Refinement, answer_to, answered, arguments, question};
use crate::support::binary::RunningProcess;
use crate::support::provider_server::{Answer, Hold, On};

/// Starts a loop whose answers are held back from one question on, with this many at once. Returns
/// when all of these are asked.
fn held_loop(refinement: &Refinement, from: usize, jobs: usize) -> (RunningProcess, Hold) {
    let hold = Hold::new();
    for number in from..=6 {
        refinement.on(number, answered(number).held_by(&hold));
    }
    let running = refinement.start(&["--jobs", &jobs.to_string()]);
    refinement.wait_for_requests(from - 1 + jobs);
    (running, hold)
}

#[test]
fn killed_loop_repeats_at_most_what_was_in_flight() {
    for (from, jobs) in [(1, 1), (2, 1), (3, 3)] {
        let refinement = Refinement::of(6);
        let before = refinement.document();
        let (running, hold) = held_loop(&refinement, from, jobs);
        let beside = refinement.run(&[]).ends_with(2);
        let stderr = &beside.stderr;
        let refused = "error: `SPEC.md` is being refined by another process\n";
        assert!(
            stderr.starts_with(refused),
            "it says nothing before: {stderr}"
        );
        running.signal(Signal::KILL);
        assert_eq!(running.wait().code, None);
        assert_eq!(refinement.document(), before);

        hold.release();
        refinement.run(&[]).ends_with(0);
        for (question, requests) in refinement.requests() {
            let number: usize = question[1..].parse().unwrap();
            let was_in_flight = (from..from + jobs).contains(&number);
            assert_eq!(requests, 1 + usize::from(was_in_flight), "{question}");
        }
        let document = refinement.document();
        for number in 1..=6 {
            assert_eq!(
                document.matches(&answer_to(number)).count(),
                1,
                "{document}"
            );
        }
    }
}

#[test]
fn what_a_killed_loop_has_begun_is_in_the_estimate() {
    let refinement = Refinement::of(2);
    let (running, hold) = held_loop(&refinement, 1, 2);
    running.signal(Signal::KILL);
    running.wait();
    hold.release();
    let preview = refinement.run(&["--dry-run"]);
    let preview: Value = serde_json::from_str(&preview.stdout).unwrap();
    assert_eq!(preview["parts"][0]["calls"], 2, "{preview}");
}

/// Returns the arguments of a loop whose consultations have an expert's call and a judge's.
fn with_a_judge<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut all = arguments(more);
    let rounds = all.iter().position(|word| *word == "--rounds").unwrap();
    all[rounds + 1] = "2";
    all
}

/// Sets up one question, whose expert and judge answer at a cost.
fn costly() -> Refinement {
    let refinement = Refinement::of(1);
    let expert = On::asking_for("position").and_containing(&question(1));
    let costly = |answer: Answer| answer.usage(1_000, 4_000);
    refinement.server.on(On::any(), costly(Answer::valid()));
    refinement.server.on(expert, costly(answered(1)));
    refinement
}

#[test]
fn spend_of_a_killed_consultation_is_shown_once() {
    let whole = costly();
    let cost = |report: &Value| report["spend"]["cost"]["micro_usd"].as_u64().unwrap();
    let once = ["--max-iterations", "1"];
    let uninterrupted = whole.conclave.run(&with_a_judge(&once)).json();
    let calls = whole.server.requests().len();

    let refinement = costly();
    let hold = Hold::new();
    let judge = On::asking_for("recommendation");
    let answer = Answer::valid().usage(1_000, 4_000).held_by(&hold);
    refinement.server.on(judge, answer);
    let running = refinement.conclave.start(&with_a_judge(&once));
    refinement.wait_for_requests(2);
    running.signal(Signal::KILL);
    running.wait();
    hold.release();

    let ceiling = with_a_judge(&["--max-iterations", "1", "--max-cost", "0.0001"]);
    for _ in 0..2 {
        let stopped = refinement.conclave.run(&ceiling).ends_with(4);
        let paid = cost(&stopped.json());
        let expected = cost(&uninterrupted) / calls as u64;
        assert_eq!(paid, expected, "one call was paid");
        let shown = format!("≥ $0.{:04} spent so far", paid / 100);
        stopped.assert_stderr_contains(&shown);
    }
    let ended = refinement.conclave.run(&with_a_judge(&once)).json();
    assert_eq!(cost(&ended), cost(&uninterrupted));
    assert_eq!(refinement.server.requests().len(), calls + 1);
}

#[test]
fn first_ctrl_c_finishes_what_is_in_flight_and_merges_nothing() {
    let refinement = Refinement::of(6);
    let before = refinement.document();
    let (running, hold) = held_loop(&refinement, 2, 2);
    running.signal(Signal::INT);
    running.wait_until("it stops", |stderr| stderr.contains("press Ctrl-C again"));
    hold.release();
    running.wait().ends_with(130);
    assert_eq!(refinement.server.requests().len(), 3);
    assert_eq!(refinement.document(), before);
    let ended = refinement.events().into_iter();
    assert_eq!(ended.filter(|event| event == "batch_finished").count(), 3);
    refinement.run(&[]).ends_with(0);
    let requests = refinement.server.requests().len();
    assert_eq!(requests, 6, "nothing is asked twice");
}

#[test]
fn ctrl_c_during_the_last_consultation_merges_the_iteration() {
    let refinement = Refinement::of(2);
    let (running, hold) = held_loop(&refinement, 2, 1);
    running.signal(Signal::INT);
    running.wait_until("it stops", |stderr| stderr.contains("press Ctrl-C again"));
    hold.release();
    running.wait().ends_with(130);
    let document = refinement.document();
    assert!(document.contains(&answer_to(2)), "{document}");
    refinement.run(&[]).ends_with(0);
    assert_eq!(refinement.server.requests().len(), 2);
}

#[test]
fn second_ctrl_c_cancels_the_calls_in_flight() {
    let refinement = Refinement::of(6);
    let before = refinement.document();
    let (running, hold) = held_loop(&refinement, 3, 2);
    running.signal(Signal::INT);
    running.wait_until("it stops", |stderr| stderr.contains("press Ctrl-C again"));
    running.signal(Signal::INT);
    running.wait().ends_with(130);
    assert_eq!(refinement.document(), before);
    let events = refinement.events();
    let cut_off = events
        .iter()
        .filter(|event| *event == "consultation_cut_off");
    assert_eq!(cut_off.count(), 2, "{events:?}");
    hold.release();
    refinement.run(&[]).ends_with(0);
    let started = refinement.log();
    let started = started
        .iter()
        .filter(|event| event["event"] == "batch_started");
    let mut ids: Vec<_> = started
        .map(|event| event["consultation"].to_string())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6, "journals are resumed");
}

#[test]
fn loop_that_ends_while_it_stops_has_ended() {
    let refinement = Refinement::of(2);
    refinement.on(2, super::open());
    let hold = Hold::new();
    refinement
        .server
        .on(super::asking(2).nth(2), super::open().held_by(&hold));
    let running = refinement.start(&[]);
    refinement.wait_for_requests(3);
    running.signal(Signal::INT);
    running.wait_until("it stops", |stderr| stderr.contains("press Ctrl-C again"));
    hold.release();
    // The second iteration is whole, and decides.
    running.wait().ends_with(0);
    assert_eq!(refinement.server.requests().len(), 3);
    let again = refinement.conclave.run(&arguments(&[])).ends_with(0);
    assert_eq!(refinement.server.requests().len(), 3, "{}", again.stderr);
}
