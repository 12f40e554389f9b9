//! Parts of a suite that are merged.

use serde_json::Value;

use super::{Bench, outcomes};

/// Returns the figures of a report that do not measure time.
fn figures(report: &Value) -> Vec<Value> {
    let arms = report["arms"].as_array().unwrap();
    let parts = [
        "counts",
        "accuracy",
        "accuracy_of_answered",
        "tags",
        "calibration",
    ];
    let mut figures = Vec::new();
    for arm in arms {
        figures.extend(parts.map(|part| arm[part].clone()));
    }
    figures
}

#[test]
fn merged_parts_equal_one_run() {
    let bench = Bench::of(9).wrong(&[2, 7]);
    let whole = bench.run(&[]).ends_with(0).json();
    let mut runs: Vec<String> = Vec::new();
    for part in 1..=3 {
        let partition = format!("{part}/3");
        let report = bench.run(&["--partition", &partition]).ends_with(0).json();
        runs.push(report["run_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(bench.server.requests().len(), 18);
    let names: Vec<&str> = runs.iter().map(String::as_str).collect();
    let merge = |names: &[&str]| {
        let arguments = [&["benchmark", "merge", "--json"], names].concat();
        bench.conclave.run(&arguments)
    };
    let merged = merge(&names).ends_with(0).json();
    assert_eq!(merged["run_status"], "complete");
    assert_eq!(outcomes(&merged), outcomes(&whole));
    assert_eq!(figures(&merged), figures(&whole));
    assert_eq!(merged["statistics"]["attempts"], 9);
    assert_eq!(merged["merged_from"].as_array().unwrap().len(), 3);

    let twice = merge(&[names[0], names[0]]).ends_with(2);
    twice.assert_stderr_contains("is part of");
}

#[test]
fn parts_differ_in_size_by_one_case_at_most() {
    let bench = Bench::of(10);
    let sizes = ["1/4", "2/4", "3/4", "4/4"].map(|part| {
        let report = bench.run(&["--partition", part]).ends_with(0).json();
        report["statistics"]["cases_attempted"].as_u64().unwrap()
    });
    assert_eq!(sizes, [3, 3, 2, 2]);
    assert_eq!(bench.requests().len(), 10);
}

#[test]
fn merged_run_with_unfinished_parts_is_stopped() {
    let bench = Bench::of(12).wrong(&[1, 2, 3]);
    let mut runs: Vec<String> = Vec::new();
    let mut spent = 0;
    let mut remaining = 0;
    for part in ["1/3", "2/3"] {
        let arguments = ["--partition", part, "--max-attempts", "2"];
        let report = bench.run(&arguments).ends_with(6).json();
        spent += report["spend"]["cost"]["micro_usd"].as_u64().unwrap();
        remaining += report["remaining"].as_array().unwrap().len();
        runs.push(report["run_id"].as_str().unwrap().to_owned());
    }
    let arguments = ["benchmark", "merge", "--json", &runs[0], &runs[1]];
    let refused = bench.conclave.run(&arguments).ends_with(1);
    refused.assert_stderr_contains("there is no run of these parts: 3/3");
    refused.assert_stderr_contains("`--partial`");
    let arguments = [&arguments[..], &["--partial"]].concat();
    let output = bench.conclave.run(&arguments).ends_with(6);
    let merged = output.json();
    assert_eq!(merged["run_status"], "stopped");
    assert_eq!(merged["stop_reason"]["condition"], "UNANSWERED");
    assert_eq!(merged["resumable"], false);
    assert_eq!(merged["remaining"].as_array().unwrap().len(), remaining);
    assert_eq!(merged["statistics"]["attempts"], 4);
    assert_eq!(merged["spend"]["cost"]["micro_usd"], spent);
    output.assert_stderr_contains("lacks the cases of these parts: 3/3");
    output.assert_stderr_contains("have no result in the merged runs");
    let again = ["benchmark", "report", "--json"];
    assert_eq!(bench.conclave.run(&again).ends_with(0).json(), merged);
    let resumed = bench.resume(&[]).ends_with(2);
    resumed.assert_stderr_contains("was merged from other runs");
}
