//! Whole loops, and what they leave.

use serde_json::json;

use super::{Refinement, answer_to, answered, arguments, asking, entry, open, position, question};
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
    let requests = refinement.requests()["k02"];
    assert_eq!(requests, 2, "it is asked once an iteration");
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
        On::containing("List what the document"),
        position("HIGH: We run one service.\nMEDIUM: It may need a queue.\nOPEN: Which way is right in k01?"),
    );
    refinement.on(1, answered(1));
    let mut for_people = arguments(&[]);
    for_people.retain(|word| *word != "--json");
    let output = refinement.conclave.run(&for_people).ends_with(0);
    output.assert_stderr_contains("2 claims and 1 open question");
    let document = refinement.document();
    assert!(document.starts_with("---\n"), "{document}");
    let expected = "We run one service. It may need a queue.\n";
    assert!(document.contains(expected), "{document}");
    assert!(document.contains("- We run one service."), "{document}");
    assert!(document.contains("## Medium Confidence"), "{document}");
    assert!(document.contains("- It may need a queue."), "{document}");
    assert!(document.contains(&answer_to(1)), "{document}");
    assert_eq!(refinement.server.requests().len(), 2);
}

#[test]
fn answers_built_from_the_schema_alone_bring_a_loop_to_its_end() {
    let refinement = Refinement::of(0);
    refinement.write("# Plan\n\nWe run one service. It may need a queue.\n");
    refinement.server.on(On::any(), Answer::from_schema());
    let three = ["--min-iterations", "3", "--max-iterations", "3"];
    let output = refinement.run(&three);
    assert!(matches!(output.code, Some(0 | 14)), "{output:?}");
    let report = output.json();
    assert_eq!(report["iterations"].as_array().unwrap().len(), 3);
    let requests = refinement.server.requests();
    let repairs = requests.iter().filter(|request| {
        let body = request.body.to_string();
        body.contains("your answer could not be used")
    });
    assert_eq!(repairs.count(), 0, "{requests:#?}");
}

#[test]
fn an_answer_in_another_form_is_asked_for_once_more() {
    let refinement = Refinement::of(1);
    let prose = json!({
        "position": "Q1 ANSWERED: Take the short way.",
        "key_points": ["the rules"],
        "rationale": "The rules say so.",
        "confidence": 0.8,
    });
    let prose = Answer::text(prose.to_string());
    refinement.server.on(asking(1).nth(1), prose);
    refinement.run(&["--min-iterations", "1"]).ends_with(0);
    assert!(refinement.document().contains(&answer_to(1)));
    let requests = refinement.server.requests();
    assert_eq!(requests.len(), 2);
    let repair = requests[1].body.to_string();
    assert!(repair.contains("answers: has no readable item"), "{repair}");
}
