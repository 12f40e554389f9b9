//! Parts of a suite that are merged.

use serde_json::Value;

use super::{Bench, outcomes, refusal};
use crate::support::binary::RunOutput;
use crate::support::provider_server::{Answer, On};

/// Returns the figures of a report that do not measure time.
fn figures(report: &Value) -> Vec<Value> {
    let arms = report["arms"].as_array().unwrap();
    let parts = [
        "counts",
        "accuracy",
        "accuracy_of_answered",
        "tags",
        "calibration",
        "spend",
    ];
    let mut figures = vec![report["statistics"].clone(), report["spend"].clone()];
    for arm in arms {
        figures.extend(parts.map(|part| arm[part].clone()));
    }
    figures
}

/// Runs with each of these arguments, and returns the ids of the runs.
fn runs(bench: &Bench, runs: &[&str]) -> Vec<String> {
    let run = |arguments: &&str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let report = bench.run(&arguments).ends_with(0).json();
        report["run_id"].as_str().unwrap().to_owned()
    };
    runs.iter().map(run).collect()
}

fn merge<'a>(bench: &Bench, runs: impl IntoIterator<Item = &'a String>) -> RunOutput {
    let mut arguments = vec!["benchmark", "merge", "--json"];
    arguments.extend(runs.into_iter().map(String::as_str));
    bench.conclave.run(&arguments)
}

/// Lets one case need a second attempt, and another one meet an outage, in the first runs of all
/// cases: their requests, with the retries of a call, are two and five.
fn damage(bench: &Bench, runs: usize) {
    for run in 0..runs {
        let first = On::containing("q05").nth(1 + 2 * run);
        bench.server.on(first, refusal());
        for nth in 1..=4 {
            let overload = Answer::error(503, "overloaded", "busy").header("retry-after-ms", "1");
            let outage = On::containing("q08").nth(nth + 5 * run);
            bench.server.on(outage, overload);
        }
    }
}

#[test]
fn merged_parts_equal_one_run() {
    const PARTS: [&str; 3] = ["--partition 1/3", "--partition 2/3", "--partition 3/3"];
    for (is_damaged, attempts, outages) in [(false, 23, 0), (true, 24, 1)] {
        let bench = Bench::of(23).wrong(&[3, 9, 15, 21]);
        damage(&bench, if is_damaged { 2 } else { 0 });
        let whole = bench.run(&[]).ends_with(0).json();
        assert_eq!(whole["statistics"]["attempts"], attempts);
        assert_eq!(whole["statistics"]["infrastructure_failures"], outages);
        let parts = runs(&bench, &PARTS);
        for order in [[0, 1, 2], [2, 0, 1]] {
            let merged = merge(&bench, order.map(|part| &parts[part])).ends_with(0);
            let mut merged = merged.json();
            assert_eq!(merged["run_status"], "complete");
            assert_eq!(outcomes(&merged), outcomes(&whole));
            assert_eq!(merged["merged_from"].as_array().unwrap().len(), 3);
            if is_damaged {
                // A case that is tried again finishes after the others.
                for last in ["window_reject_rate", "window_retry_rate"] {
                    merged["statistics"][last] = whole["statistics"][last].clone();
                }
            }
            assert_eq!(figures(&merged), figures(&whole));
        }
    }
}

#[test]
fn runs_that_are_no_parts_of_one_are_not_merged() {
    const ROWS: [(&str, &str, &str); 7] = [
        ("--partition 1/2", "--partition 1/2", "is part of bench-"),
        ("--partition 1/2", "--partition 2/3", "numbers of parts"),
        (
            "--partition 1/2",
            "--partition 2/2 --repeat 2",
            "repetitions",
        ),
        (
            "--partition 1/2",
            "--partition 2/2 --mode explore",
            "options",
        ),
        ("--partition 1/2", "--partition 2/2 --limit 2", "selections"),
        (
            "--partition 1/2 --tag odd",
            "--partition 2/2 --tag even",
            "selections",
        ),
        (
            "--partition 1/2 --mode explore",
            "--partition 2/2",
            "options",
        ),
    ];
    let bench = Bench::of(10);
    for (one, other, error) in ROWS {
        let refused = merge(&bench, &runs(&bench, &[one, other])).ends_with(2);
        refused.assert_stderr_contains(error);
    }
    let run = &runs(&bench, &["--partition 1/2"])[0];
    merge(&bench, [run, run])
        .ends_with(2)
        .assert_stderr_contains(&format!("{run} is named twice"));
}

#[test]
fn what_is_missing_follows_from_the_cases() {
    let bench = Bench::of(4);
    let limited = ["--limit 2 --partition 1/3", "--limit 2 --partition 2/3"];
    merge(&bench, &runs(&bench, &limited)).ends_with(0);
    let all = [
        "--partition 1/4",
        "--partition 2/4",
        "--partition 3/4",
        "--partition 4/4",
    ];
    let parts = runs(&bench, &all);
    let partial = "--partial".to_owned();
    let half = merge(&bench, parts[..2].iter().chain([&partial])).ends_with(0);
    half.assert_stderr_contains("the report lacks the cases of these parts: 3/4, 4/4");
    let half = half.json()["run_id"].as_str().unwrap().to_owned();
    let screen = bench.conclave.run(&["benchmark", "report", &half]);
    let screen = screen.ends_with(0).stdout;
    assert!(
        screen.contains("Parts of the suite: 2 of 4 cases."),
        "{screen}"
    );
    let lacking = merge(&bench, [&half, &parts[2]]).ends_with(1);
    lacking.assert_stderr_contains("there is no run of the parts with 1 of 4 cases");
    merge(&bench, [&half, &parts[2], &parts[3]]).ends_with(0);
}

#[test]
fn copy_of_a_run_may_have_any_name() {
    let bench = Bench::of(4);
    let parts = runs(&bench, &["--partition 1/2", "--partition 2/2"]);
    let log = bench
        .conclave
        .home()
        .join("runs")
        .join(&parts[1])
        .join("log.jsonl");
    let copy = bench.conclave.folder().join("second machine");
    std::fs::create_dir(&copy).unwrap();
    std::fs::copy(log, copy.join("log.jsonl")).unwrap();
    let copy = copy.to_str().unwrap().to_owned();
    merge(&bench, [&copy, &parts[0]]).ends_with(0);
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
