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
fn eight_merged_parts_equal_one_run() {
    let bench = Bench::of(32).wrong(&[2, 9, 30]);
    let whole = bench.run(&[]).ends_with(0).json();
    let mut runs: Vec<String> = Vec::new();
    for part in 1..=8 {
        let partition = format!("{part}/8");
        let output = bench.run(&["--partition", &partition]);
        runs.push(
            output.ends_with(0).json()["run_id"]
                .as_str()
                .unwrap()
                .to_owned(),
        );
    }
    assert_eq!(bench.server.requests().len(), 64);
    let names: Vec<&str> = runs.iter().map(String::as_str).collect();
    let merge = |names: &[&str]| {
        let arguments = [&["benchmark", "merge", "--json"], names].concat();
        bench.conclave.run(&arguments)
    };
    let merged = merge(&names).ends_with(0).json();
    assert_eq!(merged["run_status"], "complete");
    assert_eq!(outcomes(&merged), outcomes(&whole));
    assert_eq!(figures(&merged), figures(&whole));
    assert_eq!(merged["merged_from"].as_array().unwrap().len(), 8);

    let twice = merge(&[names[0], names[0]]).ends_with(2);
    twice.assert_stderr_contains("is part of");
}
