//! Providers that fail or refuse, and ceilings.

use super::{Refinement, answered};
use crate::support::provider_server::{Answer, On};

#[test]
fn iteration_without_any_answer_stops_the_loop_and_does_not_count() {
    let refinement = Refinement::of(2);
    let before = refinement.document();
    let refusal = Answer::refusal("I cannot answer this.");
    refinement.server.on(On::any(), refusal);
    let output = refinement.run(&[]).ends_with(1);
    output.assert_stderr_contains("with the same command");
    assert_eq!(refinement.document(), before);
    let log = refinement.log();
    assert_eq!(log.last().unwrap()["cause"], "no_answer");

    refinement.on(1, answered(1));
    refinement.on(2, answered(2));
    refinement.run(&[]).ends_with(0);
    let log = refinement.log();
    let merged = log.iter().filter(|event| event["event"] == "integrated");
    let iterations: Vec<_> = merged.map(|event| event["iteration"].to_string()).collect();
    assert_eq!(iterations, ["1", "2"]);
}

#[test]
fn ceiling_that_pays_for_no_consultation_is_refused_before_the_first_call() {
    let refinement = Refinement::of(8);
    let before = refinement.document();
    let start = "error: A ceiling of $0.01 does not pay for any part of this run: it takes $";
    let refused = refinement.run(&["--max-cost", "0.01"]).ends_with(4);
    refused.assert_stderr_contains(start);
    let (_, smallest) = refused.stderr.split_once(start).unwrap();
    let smallest = smallest.split(' ').next().unwrap();
    assert_eq!(refinement.server.requests().len(), 0);
    assert_eq!(refinement.document(), before);
    refinement.run(&["--max-cost", smallest]);
    assert!(!refinement.server.requests().is_empty());
}

#[test]
fn ceiling_of_the_loop_holds_over_its_processes() {
    let refinement = Refinement::of(8);
    for number in 1..=8 {
        // So many tokens that a few answers cost a large part of the ceiling.
        refinement.on(number, answered(number).usage(1_000, 4_000));
    }
    let before = refinement.document();
    refinement.run(&["--max-cost", "0.3"]).ends_with(4);
    let asked = refinement.server.requests().len();
    assert!((1..8).contains(&asked), "{asked}");
    assert_eq!(refinement.document(), before);
    refinement.run(&["--max-cost", "0.3"]).ends_with(4);
    assert_eq!(refinement.server.requests().len(), asked);

    let report = refinement.run(&["--max-cost", "50"]).ends_with(0).json();
    assert_eq!(refinement.server.requests().len(), 8);
    assert!(
        report["spend"]["cost"]["micro_usd"].as_u64().unwrap() > 300_000,
        "{report}"
    );
}
