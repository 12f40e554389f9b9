//! Stopped runs that are resumed.

use super::{Bench, MODEL, answer, outcomes, refusal};
use crate::support::provider_server::{Answer, On};

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
fn what_was_refused_or_cut_off_is_no_retry() {
    const AT_ONCE: [&str; 9] = [
        "benchmark",
        "suite.jsonl",
        "--single",
        MODEL,
        "--jobs",
        "3",
        "--yes",
        "--json",
        "--quiet",
    ];
    for (status, code, condition) in [
        (401, "invalid_api_key", "AUTHENTICATION"),
        (429, "insufficient_quota", "QUOTA"),
    ] {
        let bench = Bench::of(12);
        let refused = Answer::error(status, code, "No.").after_arrivals(3);
        bench.server.on(On::any(), refused);
        let report = bench.conclave.run(&AT_ONCE).ends_with(6).json();
        assert_eq!(report["stop_reason"]["condition"], condition);
        assert_eq!(report["statistics"]["cases_attempted"], 0);
        bench.server.on(On::any(), answer("B"));
        let report = bench.resume(&["--jobs", "3"]).ends_with(0).json();
        assert_eq!(report["statistics"]["cases_retried"], 0, "{condition}");
        assert_eq!(report["statistics"]["attempts"], 12, "{condition}");
    }
    let bench = Bench::of(12);
    bench.conclave.run(&AT_ONCE).ends_with(0);
    // As after a kill before the first of three calls.
    let log = bench.folder().join("log.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let started = text.lines().take(4).map(|line| format!("{line}\n"));
    std::fs::write(&log, started.collect::<String>()).unwrap();
    std::fs::remove_dir_all(bench.conclave.home().join("consult-logs")).unwrap();
    let report = bench.resume(&["--jobs", "3"]).ends_with(0).json();
    assert_eq!(report["statistics"]["cases_retried"], 0);
    assert_eq!(report["statistics"]["attempts"], 12);
    assert_eq!(bench.server.requests().len(), 24);
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
