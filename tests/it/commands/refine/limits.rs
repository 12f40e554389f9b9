//! Providers that fail or refuse, and ceilings.

use super::{Refinement, answer_to, answered, entry, open};
use crate::support::provider_server::{Answer, On};

fn refusal() -> Answer {
    Answer::refusal("I cannot answer this.")
}

#[test]
fn question_without_an_answer_stays_open_while_others_are_merged() {
    let refinement = Refinement::of(3);
    refinement.on(2, refusal());
    // In the second iteration, it alone is asked.
    refinement.run(&[]).ends_with(1);
    let document = refinement.document();
    let (claims, questions) = document.split_once("## Open Questions").unwrap();
    assert!(claims.contains(&answer_to(3)), "{document}");
    assert!(questions.contains(&entry(2)), "{document}");
}

#[test]
fn questions_left_open_by_an_outage_are_not_stable() {
    let refinement = Refinement::of(5);
    for number in 1..=4 {
        refinement.on(number, refusal());
    }
    refinement.on(5, open());
    refinement.run(&[]).ends_with(14);
    assert_eq!(refinement.requests()["k05"], 5, "once an iteration");
}

#[test]
fn iteration_without_any_answer_stops_the_loop_and_does_not_count() {
    let refinement = Refinement::of(2);
    let before = refinement.document();
    refinement.server.on(On::any(), refusal());
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
fn wrong_key_stops_the_loop_with_the_words_of_the_provider() {
    let refinement = Refinement::of(3);
    let before = refinement.document();
    let wrong = Answer::error(401, "invalid_api_key", "this key is not known here");
    refinement.on(2, wrong);
    let output = refinement.run(&[]).ends_with(1);
    output.assert_stderr_contains("this key is not known here");
    assert_eq!(refinement.document(), before);
    assert_eq!(refinement.server.requests().len(), 2);

    refinement.on(2, answered(2));
    refinement.run(&[]).ends_with(0);
    assert!(refinement.document().contains(&answer_to(2)));
    assert_eq!(refinement.server.requests().len(), 4);
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

#[test]
fn cost_without_a_terminal_needs_consent() {
    let mut refinement = Refinement::of(3);
    let conclave = refinement.conclave;
    refinement.conclave = conclave.variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0");
    let mut arguments = super::arguments(&[]);
    arguments.retain(|word| *word != "--yes");
    refinement.conclave.run(&arguments).ends_with(3);
    assert_eq!(refinement.server.requests().len(), 0);
}
