//! Panels beside a single model, and a model that grades.

use serde_json::json;

use super::{Bench, MODEL, answer};
use crate::support::provider_server::{On, Vendor};

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

#[test]
fn model_grades_cases_that_no_rule_can_compare() {
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
    let grader = "anthropic:claude-opus-5-5";
    let says = |word: &str| answer(word);
    bench
        .server
        .on(On::vendor(Vendor::Anthropic), says("RIGHT"));
    bench.server.on(
        On::vendor(Vendor::Anthropic).and_containing("q02"),
        says("WRONG"),
    );
    let missing = bench.run(&[]).ends_with(2);
    missing.assert_stderr_contains("name it with `--grader MODEL`");
    let report = bench.run(&["--grader", grader]).ends_with(0).json();
    assert_eq!(report["results"][0]["outcome"], "approved");
    assert_eq!(report["results"][1]["outcome"], "rejected");
    assert!(report["results"][0]["grading"].is_string());
    assert_eq!(report["results"][0]["spend"]["calls"], 2);
    assert_eq!(bench.server.requests().len(), 4);
}
