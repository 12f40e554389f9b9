//! Answers as models of all sizes write them, and what is read from them.

mod forms;
mod meaning;
mod quotes;
mod records;
mod extraction;
mod unlabelled;
mod properties;

use crate::refinement::batches::QuestionBatch;
use crate::refinement::finding::PanelFinding;
use crate::stopping::convergence::QuestionKey;

use super::read_answer;

/// Returns three questions and four claims.
fn batch() -> QuestionBatch {
    let entries = |texts: &[&str]| -> Vec<(QuestionKey, String)> {
        let entry = |text: &&str| (QuestionKey::of(text), (*text).to_owned());
        texts.iter().map(entry).collect()
    };
    QuestionBatch {
        questions: entries(&[
            "How long do sessions last?",
            "Which database is used?",
            "Who pays for refunds?",
        ]),
        claims: entries(&[
            "Tokens are signed.",
            "Passwords are hashed with MD5.",
            "The service runs in one region.",
            "Logs are kept for a year.",
        ]),
        mark: None,
    }
}

fn single() -> QuestionBatch {
    let mut batch = batch();
    batch.questions.truncate(1);
    batch
}

/// Returns the findings of an answer, a line each: `Q1 answered: …`, `unread: Q2`.
fn shown(text: &str) -> String {
    shown_of(&batch(), text)
}

fn shown_of(batch: &QuestionBatch, text: &str) -> String {
    let (findings, unread) = read_answer(text, batch);
    shown_findings(batch, &findings, &unread)
}

fn shown_findings(
    batch: &QuestionBatch,
    findings: &[PanelFinding],
    unread: &[QuestionKey],
) -> String {
    let number = |entries: &[(QuestionKey, String)], key: &QuestionKey| {
        entries.iter().position(|(of, _)| of == key).unwrap() + 1
    };
    let question = |key: &QuestionKey| format!("Q{}", number(&batch.questions, key));
    let mut lines: Vec<String> = findings
        .iter()
        .map(|finding| match finding {
            PanelFinding::Answered {
                question: key,
                answer,
                dissent,
            } => {
                let dissent = dissent.as_ref().map(|text| format!(" [dissent: {text}]"));
                format!(
                    "{} answered: {answer}{}",
                    question(key),
                    dissent.unwrap_or_default()
                )
            }
            PanelFinding::StillOpen {
                question: key,
                reason,
            } => format!("{} open: {reason}", question(key)),
            PanelFinding::Deferred {
                question: key,
                reason,
            } => format!("{} deferred: {reason}", question(key)),
            PanelFinding::Contradicted { claim, reason } => {
                format!("C{} contradicted: {reason}", number(&batch.claims, claim))
            }
            PanelFinding::NewQuestion {
                text,
                blocker: false,
            } => format!("new: {text}"),
            PanelFinding::NewQuestion {
                text,
                blocker: true,
            } => format!("new blocker: {text}"),
        })
        .collect();
    if !unread.is_empty() {
        let unread: Vec<String> = unread.iter().map(question).collect();
        lines.push(format!("unread: {}", unread.join(" ")));
    }
    lines.join("\n")
}

/// Checks what is read from each answer.
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let expected: Vec<&str> = expected.lines().map(str::trim).collect();
        assert_eq!(shown(text), expected.join("\n"), "in:\n{text}");
    }
}
