//! What an answer says about a batch.

use super::super::answer::read;
use super::{batch, findings, shown_findings};

/// Returns what is read from an answer that says these lines.
fn shown(lines: &str) -> String {
    let found = serde_json::from_value(findings(lines)).unwrap();
    let reading = read(Some(&found), &batch());
    shown_findings(&batch(), &reading.findings, &reading.unread)
}

#[test]
fn every_outcome_is_a_finding() {
    assert_eq!(
        shown(
            "Q1 ANSWERED: 24 hours.\nQ1 DISSENT: Ops wants eight.\nQ2 OPEN: no data\n\
             Q3 DEFERRED: finance\nC2 CONTRADICTED: it is bcrypt\nNEW: Who signs?\nNEW BLOCKER: Who owns it?"
        ),
        "Q1 answered: 24 hours. [dissent: Ops wants eight.]\nQ2 open: no data\nQ3 deferred: finance\n\
         C2 contradicted: it is bcrypt\nnew: Who signs?\nnew blocker: Who owns it?"
    );
}

#[test]
fn a_text_that_says_nothing_is_no_answer() {
    for nothing in [
        "TBD",
        "unknown",
        "n/a",
        "…",
        "Not specified.",
        "How long do sessions last",
        "How would you answer it?",
    ] {
        let read = shown(&format!("Q1 ANSWERED: {nothing}"));
        assert_eq!(read, "unread: Q1 Q2 Q3", "{nothing}");
    }
    for answer in ["No.", "None", "24"] {
        let read = shown(&format!("Q1 ANSWERED: {answer}"));
        let expected = format!("Q1 answered: {answer}\n");
        assert!(read.starts_with(&expected), "{read}");
    }
    assert!(shown("Q1 OPEN: n/a").starts_with("Q1 open: no reason stated\n"));
    assert!(shown("Q1 ANSWERED: a day\nQ1 DISSENT: none").starts_with("Q1 answered: a day\n"));
}

#[test]
fn what_was_not_asked_is_no_finding() {
    let others = "Q4 ANSWERED: yes\nC5 CONTRADICTED: no\nC1 CONTRADICTED: none";
    assert_eq!(shown(others), "unread: Q1 Q2 Q3");
}

#[test]
fn a_new_question_is_new_once() {
    let lines = "NEW: Who signs?\nNEW: who signs\nNEW: Which database is used?\nNEW: none";
    assert_eq!(shown(lines), "new: Who signs?\nunread: Q1 Q2 Q3");
    let many: Vec<String> = (0..50)
        .map(|number| format!("NEW: Why {number}?"))
        .collect();
    assert_eq!(shown(&many.join("\n")).matches("new: ").count(), 20);
}

#[test]
fn long_texts_are_one_paragraph_with_a_bound() {
    let read = shown(&format!("Q1 ANSWERED: {}", "word ".repeat(900)));
    assert!(read.lines().next().unwrap().chars().count() < 1_300);
}
