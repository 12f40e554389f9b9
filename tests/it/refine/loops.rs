//! Whole loops, and what they leave.

use serde_json::json;

use super::{Refinement, answer_to, answered, entry, open, position, question};
use crate::support::provider_server::{Answer, On};

#[test]
fn answered_questions_move_up_with_their_source() {
    let refinement = Refinement::of(5);
    refinement.on(2, open());
    refinement.run(&[]).ends_with(0);
    let document = refinement.document();
    let (claims, questions) = document.split_once("## Open Questions").unwrap();
    for number in [1, 3, 4, 5] {
        assert!(claims.contains(&question(number)), "{document}");
        assert!(claims.contains(&answer_to(number)), "{document}");
        assert!(!questions.contains(&question(number)), "{document}");
    }
    assert!(questions.contains(&entry(2)), "{document}");
    assert!(document.contains("By hand."), "{document}");
    assert_eq!(refinement.requests()["k01"], 1);
    assert_eq!(
        refinement.requests()["k02"],
        2,
        "it is asked once an iteration"
    );
}

#[test]
fn each_step_of_a_loop_is_in_its_log() {
    let refinement = Refinement::of(1);
    refinement.run(&[]).ends_with(0);
    let expected = [
        "begun",
        "iteration_started",
        "batch_started",
        "batch_finished",
        "integrated",
        "document_written",
        "iteration_started",
        "integrated",
        "document_written",
        "ended",
    ];
    assert_eq!(refinement.events(), expected);
    assert!(refinement.folder().join("changes.md").exists());
    let original = std::fs::read_to_string(refinement.folder().join("original.md")).unwrap();
    assert!(original.ends_with(&(entry(1) + "\n")), "{original}");
}

#[test]
fn claims_and_questions_of_a_plain_document_are_extracted_once() {
    let refinement = Refinement::of(1);
    refinement.write("# Plan\n\nWe run one service. It may need a queue.\n");
    refinement.server.on(
        On::containing("OPEN: <"),
        position("HIGH: We run one service.\nMEDIUM: It may need a queue.\nOPEN: Which way is right in k01?"),
    );
    refinement.on(1, answered(1));
    refinement.run(&[]).ends_with(0);
    let document = refinement.document();
    assert!(document.starts_with("---\n"), "{document}");
    assert!(
        document.contains("We run one service. It may need a queue.\n"),
        "{document}"
    );
    assert!(document.contains("- We run one service."), "{document}");
    assert!(document.contains(&answer_to(1)), "{document}");
    assert_eq!(refinement.server.requests().len(), 2);
}

#[test]
fn claims_and_questions_are_extracted_from_key_points_without_labels() {
    let refinement = Refinement::of(1);
    refinement.write("# Plan\n\nWe run one service. It may need a queue.\n");
    let answer = json!({
        "position": "The document describes a service.",
        "key_points": ["We run one service.", "Which way is right in k01?"],
        "rationale": "The document says so.",
        "confidence": 0.9,
    });
    refinement
        .server
        .on(On::containing("OPEN: <"), Answer::text(answer.to_string()));
    refinement.on(1, answered(1));
    refinement.run(&[]).ends_with(0);
    let document = refinement.document();
    let (_, claims) = document.split_once("## Medium Confidence").unwrap();
    assert!(claims.contains("- We run one service."), "{document}");
    assert!(!document.contains("describes a service"), "{document}");
    assert!(document.contains(&answer_to(1)), "{document}");
}

#[test]
fn consultations_run_side_by_side() {
    let refinement = Refinement::of(4);
    for number in 1..=4 {
        refinement.on(number, answered(number).after_arrivals(4));
    }
    refinement.run(&["--jobs", "4"]).ends_with(0);
    assert_eq!(refinement.requests().len(), 4);
}
