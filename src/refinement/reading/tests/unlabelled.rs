//! What is read from answers without labels to one question: "How long do sessions last?".

use super::{batch, shown_findings, single};
use crate::refinement::reading::unlabelled::read_unlabelled;

/// Returns what is read: `answered`, `open` or `unread`.
fn outcome(text: &str) -> &'static str {
    match read_unlabelled(text, &single()) {
        Some(finding) => {
            let shown = shown_findings(&single(), &[finding], &[]);
            if shown == format!("Q1 answered: {text}") {
                "answered"
            } else {
                assert_eq!(shown, format!("Q1 open: {text}"));
                "open"
            }
        }
        None => "unread",
    }
}

#[test]
fn plain_statements_are_answers() {
    for text in [
        "The sessions last 24 hours.",
        "The minimum required Rust version is 1.34.0",
        "It lasts until the browser is closed, at most a day.",
        "A session lasts for 15 minutes and is extended by every request.",
        "They end at midnight in the time zone of the shop.",
        "The lifetime is a day, in every region and for every kind of…",
    ] {
        assert_eq!(outcome(text), "answered", "{text}");
    }
}

#[test]
fn refusals_leave_the_question_open() {
    for text in [
        "I don't know how long they last, as the document is silent.",
        "The document does not specify the lifetime of a session.",
        "The lifetime of a session is not stated in the document.",
        "This cannot be answered from the document.",
        "There is no information about the sessions.",
        "It is unclear: the figures of the load are missing.",
        "The lifetime remains open.",
    ] {
        assert_eq!(outcome(text), "open", "{text}");
    }
}

#[test]
fn what_may_be_no_answer_is_unread() {
    for text in [
        "",
        "…",
        "No.",
        "none",
        "Unknown",
        "TBD",
        "24",
        "Sessions last 24 hours.",
        "How long do sessions last?",
        "The question is how long do sessions last.",
        "Is it a day?",
        "It depends on the load.",
        "Sessions might last a day.",
        "Sessions are never ended.",
        "The panel has to ask the security team.",
        "The answer is in the document.",
        "the answer, in one or two sentences that can stand in the document",
        "what is missing to answer it",
        "<the answer>",
        "Q1: the sessions last a day",
        "C1 CONTRADICTED: the tokens are signed",
        "NEW: who signs the tokens?",
        "The options are:",
        "A day is enough.\n\nA week is better.",
        "| the lifetime | a day |",
        "> the lifetime is a day",
        "{\"lifetime\": \"a day\"}",
        "Das steht in den Unterlagen an keiner Stelle.",
        "Het is niet bekend.",
        "文档没有说明。",
    ] {
        assert_eq!(outcome(text), "unread", "{text}");
    }
    let long = "The sessions last a day. ".repeat(40);
    assert_eq!(outcome(&long), "unread");
}

#[test]
fn several_questions_have_no_unlabelled_answer() {
    assert_eq!(read_unlabelled("The sessions last a day.", &batch()), None);
}
