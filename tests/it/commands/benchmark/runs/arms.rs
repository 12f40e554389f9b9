//! Panels beside a single model, and a model that grades.

use serde_json::{Value, json};

use super::{Bench, MODEL, answer};
use crate::support::provider_server::{Answer, On, Vendor};

#[test]
fn both_arms_answer_the_same_cases() {
    let bench = Bench::of(4);
    // The model alone is wrong twice, and outvoted in the panel.
    for number in [1, 2] {
        let alone = On::vendor(Vendor::OpenAi).and_containing(&super::id(number));
        bench.server.on(alone, answer("A"));
    }
    let run = [
        "benchmark",
        "suite.jsonl",
        "--compare",
        "--single",
        MODEL,
        "--rounds",
        "1",
        "--yes",
        "--json",
    ];
    let report = bench.conclave.run(&run).ends_with(0).json();
    assert_eq!(report["arms"][0]["arm"], "panel");
    assert_eq!(report["arms"][0]["accuracy"]["right"], 4);
    assert_eq!(report["arms"][1]["arm"], "single");
    assert_eq!(report["arms"][1]["accuracy"]["right"], 2);
    assert!(report["comparison"].is_object(), "{}", report["comparison"]);
    assert_eq!(bench.server.requests().len(), 4 * (3 + 1));
    let page = ["benchmark", "report", "-o", "page.html"];
    bench.conclave.run(&page).ends_with(0);
}

const GRADER: &str = "anthropic:claude-opus-5-5";

/// Sets up two cases that a model grades: the first answer is right, the second one wrong.
fn graded_cases() -> Bench {
    let bench = Bench::of(2);
    let judged = |number: usize| {
        json!({
            "id": super::id(number),
            "question": format!("What is right in {}?", super::id(number)),
            "expected": "That one",
            "match": "judge",
        })
    };
    bench.write(&[judged(1), judged(2)]);
    let grader = || On::vendor(Vendor::Anthropic);
    bench.server.on(grader(), answer("RIGHT"));
    let second = grader().and_containing("q02");
    bench.server.on(second, answer("WRONG"));
    bench
}

#[test]
fn model_grades_cases_that_no_rule_can_compare() {
    let bench = graded_cases();
    let missing = bench.run(&[]).ends_with(2);
    missing.assert_stderr_contains("name it with `--grader MODEL`");
    let report = bench.run(&["--grader", GRADER]).ends_with(0).json();
    assert_eq!(report["results"][0]["outcome"], "approved");
    assert_eq!(report["results"][1]["outcome"], "rejected");
    assert!(report["results"][0]["grading"].is_string());
    assert_eq!(report["results"][0]["spend"]["calls"], 2);
    assert_eq!(bench.server.requests().len(), 4);
}

#[test]
fn outage_of_the_grader_is_none_of_a_case() {
    // How many calls of the grader fail, and how the run ends.
    for (failures, code) in [(4, 0), (8, 0), (30, 6)] {
        let bench = graded_cases();
        for nth in 1..=failures {
            let overload = Answer::error(503, "overloaded", "busy").header("retry-after-ms", "1");
            let grader = On::vendor(Vendor::Anthropic).and_containing("q01").nth(nth);
            bench.server.on(grader, overload.clone());
            if code == 6 {
                let grader = On::vendor(Vendor::Anthropic).and_containing("q02").nth(nth);
                bench.server.on(grader, overload);
            }
        }
        let arguments = ["--grader", GRADER, "--attempts", "3"];
        let mut report = bench.run(&arguments).ends_with(code).json();
        if code == 6 {
            assert_eq!(report["stop_reason"]["condition"], "PROVIDER_OUTAGE");
            assert_eq!(report["statistics"]["cases_attempted"], 0);
            bench
                .server
                .on(On::vendor(Vendor::Anthropic), answer("RIGHT"));
            report = bench.resume(&[]).ends_with(0).json();
        }
        assert_eq!(report["results"][0]["outcome"], "approved");
        assert_eq!(report["statistics"]["cases_failed"], 0);
        assert_eq!(report["statistics"]["attempts"], 2);
        assert_ne!(report["results"][0]["outages"], 0);
        let answers = bench.server.requests().into_iter();
        let answers = answers.filter(|request| request.vendor == Some(Vendor::OpenAi));
        assert_eq!(
            answers.count(),
            2,
            "an answer that is there is not paid again"
        );
    }
}

#[test]
fn grading_that_a_kill_lost_is_paid_for_in_the_result() {
    let bench = graded_cases();
    let whole = bench.run(&["--grader", GRADER]).ends_with(0).json();
    bench.cut_log("case_run_finished");
    let resumed = bench.resume(&[]).ends_with(0).json();
    assert_eq!(resumed["results"][1]["spend"]["calls"], 3);
    assert_eq!(resumed["spend"]["calls"], bench.server.requests().len());
    let cost = |report: &Value| report["spend"]["cost"]["micro_usd"].as_u64().unwrap();
    assert!(cost(&resumed) > cost(&whole));
}

#[test]
fn earlier_grading_counts_under_the_ceiling() {
    let bench = graded_cases();
    let dear = answer("WRONG").usage(1_000, 4_000);
    let second = On::vendor(Vendor::Anthropic).and_containing("q02");
    bench.server.on(second, dear);
    let whole = bench.run(&["--grader", GRADER]).ends_with(0).json();
    bench.cut_log("case_run_finished");
    // Nothing more fits when what was spent is counted.
    let micro = whole["spend"]["cost"]["micro_usd"].as_u64().unwrap();
    let least = micro + 1_000;
    let ceiling = format!("{}.{:06}", least / 1_000_000, least % 1_000_000);
    let output = bench.resume(&["--max-cost", &ceiling]).ends_with(4);
    assert_eq!(output.json()["stop_reason"]["condition"], "COST_CEILING");
    assert_eq!(output.json()["spend"]["cost"]["micro_usd"], micro);
    assert_eq!(bench.server.requests().len(), 4);
}

#[test]
fn case_that_is_cut_off_twice_is_counted_once() {
    let bench = Bench::of(2);
    let dear = answer("B").usage(1_000, 4_000);
    bench.server.on(On::any(), dear);
    let run = [
        "benchmark",
        "suite.jsonl",
        "--jobs",
        "1",
        "--yes",
        "--json",
        "--max-cost",
        "0.4",
    ];
    let first = bench.conclave.run(&run).ends_with(4).json();
    let again = bench.resume(&[]).ends_with(4).json();
    assert!(first["spend"]["calls"].as_u64().unwrap() > 0);
    assert_eq!(again["spend"], first["spend"]);
}
