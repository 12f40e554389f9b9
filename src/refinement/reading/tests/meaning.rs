//! What is no finding, and what leaves a question unread.

use super::{check, shown};

#[test]
fn prose_without_labels_is_unread() {
    check(&[
        ("", "unread: Q1 Q2 Q3"),
        (
            "Sessions should last 24 hours, and Postgres is fine.",
            "unread: Q1 Q2 Q3",
        ),
        (
            "Q1: 24 hours.\nQ2: Postgres.\nQ3: the shop.",
            "unread: Q1 Q2 Q3",
        ),
        ("1. 24 hours\n2. Postgres\n3. the shop", "unread: Q1 Q2 Q3"),
        (
            "I would answer Q1 with 24 hours and leave Q2 open for now.",
            "unread: Q1 Q2 Q3",
        ),
        (
            "q1 answered the wrong thing, so it is still in doubt",
            "unread: Q1 Q2 Q3",
        ),
        (
            "Q2 open-ended questions like this need data",
            "unread: Q1 Q2 Q3",
        ),
        (
            "I cannot write Q1 ANSWERED: because I lack the data",
            "unread: Q1 Q2 Q3",
        ),
        ("I'm sorry, but I can't help with that.", "unread: Q1 Q2 Q3"),
        (
            r#"{"answer": "24 hours", "confidence": 0.9}"#,
            "unread: Q1 Q2 Q3",
        ),
    ]);
}

#[test]
fn repeated_instructions_are_no_findings() {
    let forms = crate::refinement::label::form::FindingForm::ALL.map(|form| form.line(None));
    assert_eq!(shown(&forms.join("\n")), "unread: Q1 Q2 Q3");
    let bare = forms.join("\n").replace(['<', '>'], "");
    assert_eq!(shown(&bare), "unread: Q1 Q2 Q3");
    let then_answered = format!("{}\n\nQ1 ANSWERED: 24 hours.", forms.join("\n"));
    assert_eq!(
        shown(&then_answered),
        "Q1 answered: 24 hours.\nunread: Q2 Q3"
    );
    check(&[
        (
            "Q1 ANSWERED: <answer>\nQ2 ANSWERED: [your answer]\nQ3 ANSWERED: …",
            "unread: Q1 Q2 Q3",
        ),
        (
            "Q1 ANSWERED / OPEN / DEFERRED: 24 hours",
            "unread: Q1 Q2 Q3",
        ),
        ("Q1 ANSWERED | OPEN: 24 hours", "unread: Q1 Q2 Q3"),
        (
            "Each line is Q1 ANSWERED: or Q1 OPEN: or Q1 DEFERRED:",
            "unread: Q1 Q2 Q3",
        ),
    ]);
}

#[test]
fn what_answers_nothing_is_no_answer() {
    check(&[
        (
            "Q1 ANSWERED:\nQ2 ANSWERED: unknown\nQ3 ANSWERED: n/a",
            "unread: Q1 Q2 Q3",
        ),
        (
            "Q1 ANSWERED: TBD.\nQ2 ANSWERED: Not specified.\nQ3 ANSWERED: -",
            "unread: Q1 Q2 Q3",
        ),
        (
            "Q1 ANSWERED: How long do sessions last?",
            "unread: Q1 Q2 Q3",
        ),
        (
            "Q1 ANSWERED: No.\nQ2 ANSWERED: None",
            "Q1 answered: No.\nQ2 answered: None\nunread: Q3",
        ),
        (
            "Q1 NOT ANSWERED: no data\nQ2 UNANSWERED: no data",
            "Q1 open: no data\nQ2 open: no data\nunread: Q3",
        ),
        (
            "Q1 OPEN\nQ2 DEFERRED",
            "Q1 open: no reason stated\nQ2 deferred: no reason stated\nunread: Q3",
        ),
        (
            "Q1 ANSWERED (partly): 24 hours for users",
            "Q1 answered: (partly): 24 hours for users\nunread: Q2 Q3",
        ),
    ]);
}

#[test]
fn contradicting_labels_leave_a_question_unread() {
    check(&[
        (
            "Q1 ANSWERED: 24 hours.\nQ1 OPEN: no data",
            "unread: Q1 Q2 Q3",
        ),
        (
            "Q1 ANSWERED: 24 hours.\nQ2 ANSWERED: Postgres\nQ1 ANSWERED: 8 hours.",
            "Q2 answered: Postgres\nunread: Q1 Q3",
        ),
        (
            "Q1 DEFERRED: a person\nQ1 OPEN: no data",
            "unread: Q1 Q2 Q3",
        ),
        (
            "Q1 ANSWERED: 24 hours.\n\nQ1 ANSWERED: **24 hours**",
            "Q1 answered: 24 hours.\nunread: Q2 Q3",
        ),
        (
            "Q1 ANSWERED: 24 hours.\n\nQ1 ANSWERED: 24 hours, as the policy says",
            "Q1 answered: 24 hours, as the policy says\nunread: Q2 Q3",
        ),
        (
            "Q1 OPEN: no data\nQ1 OPEN: nothing is measured",
            "Q1 open: no data\nunread: Q2 Q3",
        ),
        (
            "Q1 OPEN\nQ1 OPEN: nothing is measured",
            "Q1 open: nothing is measured\nunread: Q2 Q3",
        ),
    ]);
}

#[test]
fn labels_of_what_was_not_asked_are_dropped() {
    check(&[
        (
            "Q0 ANSWERED: a\nQ4 ANSWERED: b\nQ17 OPEN: c\nQ1 ANSWERED: 24 hours",
            "Q1 answered: 24 hours\nunread: Q2 Q3",
        ),
        (
            "C9 CONTRADICTED: wrong\nC0 CONTRADICTED: wrong\nC4 CONTRADICTED: it is a month",
            "C4 contradicted: it is a month\nunread: Q1 Q2 Q3",
        ),
        (
            "Q2 CONTRADICTED: wrong\nC1 ANSWERED: right\nC2 OPEN: x",
            "unread: Q1 Q2 Q3",
        ),
        (
            "Q2025 ANSWERED: budget\nQ1a ANSWERED: b",
            "unread: Q1 Q2 Q3",
        ),
        (
            "R1 ANSWERED: a\nFAQ1 ANSWERED: b\nQuery 1 ANSWERED: c",
            "unread: Q1 Q2 Q3",
        ),
        ("Q1 and Q2 ANSWERED: both last 24 hours", "unread: Q1 Q2 Q3"),
    ]);
}

#[test]
fn dissent_belongs_to_its_answer() {
    check(&[
        (
            "Q1 ANSWERED: 24 hours.\nQ1 DISSENT: Expert B wants 8 hours.",
            "Q1 answered: 24 hours. [dissent: Expert B wants 8 hours.]\nunread: Q2 Q3",
        ),
        (
            "- **Q1 ANSWERED:** 24 hours.\n  - Dissent: Expert B wants 8 hours.",
            "Q1 answered: 24 hours. [dissent: Expert B wants 8 hours.]\nunread: Q2 Q3",
        ),
        (
            "Q1 ANSWERED: 24 hours.\nQ1 DISSENT: none.",
            "Q1 answered: 24 hours.\nunread: Q2 Q3",
        ),
        (
            "Q1 ANSWERED: 24 hours. Q1 DISSENT: B: 8 hours. Q1 DISSENT: C: never",
            "Q1 answered: 24 hours. [dissent: B: 8 hours.; C: never]\nunread: Q2 Q3",
        ),
        (
            "Q1 OPEN: no data\nQ1 DISSENT: B knows",
            "Q1 open: no data\nunread: Q2 Q3",
        ),
        ("Q1 DISSENT: B knows", "unread: Q1 Q2 Q3"),
    ]);
}

#[test]
fn claims_and_new_questions_are_read() {
    check(&[
        (
            "Q1 ANSWERED: a\nQ2 ANSWERED: b\nQ3 ANSWERED: c\nC4 CONTRADICTED: a month\nC2 CONTRADICTED: bcrypt\nNEW: Who signs?\nNEW BLOCKER: Who runs it?",
            "Q1 answered: a\nQ2 answered: b\nQ3 answered: c\nC2 contradicted: bcrypt\nC4 contradicted: a month\nnew: Who signs?\nnew blocker: Who runs it?",
        ),
        (
            "**Claim 2 — CONTRADICTED:** bcrypt\n**New question:** Who signs?",
            "C2 contradicted: bcrypt\nnew: Who signs?\nunread: Q1 Q2 Q3",
        ),
        (
            "[NEW] Who signs?\n[NEW] [BLOCKER] Who runs it?",
            "new: Who signs?\nnew blocker: Who runs it?\nunread: Q1 Q2 Q3",
        ),
        (
            "NEW:\n- Who signs?\n- Who runs it?\n\nNEW BLOCKER:\n1. Who pays?",
            "new: Who signs?\nnew: Who runs it?\nnew blocker: Who pays?\nunread: Q1 Q2 Q3",
        ),
        (
            "NEW: none\nNEW BLOCKER: n/a\nC1 CONTRADICTED: no",
            "unread: Q1 Q2 Q3",
        ),
        (
            "NEW: Which database is used?\nNEW: who signs\nNEW: Who signs?",
            "new: who signs\nunread: Q1 Q2 Q3",
        ),
        (
            "NEW users must register\nNew York is far",
            "unread: Q1 Q2 Q3",
        ),
        (
            "C1 is right. C3 contradicted the others in an earlier draft",
            "unread: Q1 Q2 Q3",
        ),
    ]);
}

#[test]
fn a_truncated_answer_keeps_what_is_whole() {
    check(&[
        (
            "Q1 ANSWERED: 24 hours.\nQ2 OPEN: the load\nQ3 ANSW",
            "Q1 answered: 24 hours.\nQ2 open: the load\nunread: Q3",
        ),
        (
            "Q1 ANSWERED: 24 hours.\n**Q2 OP",
            "Q1 answered: 24 hours.\nunread: Q2 Q3",
        ),
        (
            "Q1 ANSWERED: 24 hours.\nQ2 OPEN:",
            "Q1 answered: 24 hours.\nQ2 open: no reason stated\nunread: Q3",
        ),
    ]);
}

#[test]
fn long_texts_are_cut_visibly() {
    let text = format!("Q1 ANSWERED: {}", "word ".repeat(1_000));
    let read = shown(&text);
    let answer = read.lines().next().unwrap();
    assert!(answer.ends_with('…'), "{answer}");
    assert!(answer.chars().count() < 1_300);
}
