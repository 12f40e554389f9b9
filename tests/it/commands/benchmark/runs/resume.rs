//! Stopped runs that are resumed.

use super::{Bench, answer, outcomes, refusal};
use crate::support::provider_server::On;

#[test]
fn halted_and_resumed_run_ends_as_one_that_never_halted() {
    let bench = Bench::of(12).wrong(&[2, 6]);
    bench.on(9, refusal());
    let whole = bench.run(&[]).ends_with(0).json();
    let before = bench.server.requests().len();

    bench.run(&["--max-attempts", "5"]).ends_with(6);
    let run = bench.resume(&["--jobs", "1"]).ends_with(6).json();
    assert_eq!(run["stop_reason"]["condition"], "ATTEMPT_BUDGET");
    let resumed = bench.resume(&["--max-attempts", "off"]).ends_with(0).json();
    assert_eq!(outcomes(&resumed), outcomes(&whole));
    assert_eq!(resumed["statistics"]["attempts"], 13);
    assert_eq!(bench.server.requests().len() - before, 13);

    let again = bench.resume(&[]).ends_with(2);
    again.assert_stderr_contains("is complete");
}

#[test]
fn probe_without_an_answer_halts_again_at_once() {
    let bench = Bench::of(12).wrong(&[1, 2, 3]);
    bench.run(&["--attempts", "1"]).ends_with(6);
    bench.server.on(On::any(), refusal());
    let report = bench.resume(&["--jobs", "4"]).ends_with(6).json();
    assert_eq!(report["stop_reason"]["condition"], "PROBE_FAILED");
    assert_eq!(bench.server.requests().len(), 4);
}

#[test]
fn suite_that_has_changed_is_refused() {
    let bench = Bench::of(4).wrong(&[1, 2, 3]);
    bench.run(&[]).ends_with(6);
    let mut cases: Vec<_> = (1..=4).map(super::case).collect();
    cases[3]["expected"] = "A".into();
    bench.write(&cases);
    let output = bench.resume(&[]).ends_with(2);
    output.assert_stderr_contains("has changed since bench-");
    assert_eq!(bench.server.requests().len(), 3);
}

#[test]
fn terms_of_a_run_cannot_be_changed_by_flags() {
    let bench = Bench::of(4).wrong(&[1, 2, 3]);
    bench.run(&[]).ends_with(6);
    bench.server.on(On::any(), answer("B"));
    let output = bench.resume(&["--repeat", "2"]).ends_with(2);
    output.assert_stderr_contains("unexpected argument '--repeat'");
}

#[test]
fn preview_of_a_resume_only_reads() {
    let bench = Bench::of(4).wrong(&[1, 2, 3]);
    bench.run(&[]).ends_with(6);
    let runs = bench.conclave.home().join("runs");
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap();
    let log = run.path().join("log.jsonl");
    let mut text = std::fs::read(&log).unwrap();
    text.extend(b"{\"torn");
    std::fs::write(&log, &text).unwrap();
    let shown = bench.resume(&["--dry-run"]).ends_with(0);
    assert_eq!(shown.json()["calls"], 1);
    assert_eq!(std::fs::read(&log).unwrap(), text);
    assert_eq!(bench.server.requests().len(), 3);
}
