//! Answers as models of all sizes write them, and what is read from them.

mod answers;
mod extraction;
mod records;

use serde_json::{Value, json};

use crate::refinement::batches::QuestionBatch;
use crate::refinement::finding::PanelFinding;
use crate::stopping::convergence::QuestionKey;

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
    }
}

fn single() -> QuestionBatch {
    let mut batch = batch();
    batch.questions.truncate(1);
    batch
}

/// Returns the fields of an answer that says these lines about a document: `Q1 ANSWERED: …`, `Q1
/// DISSENT: …`, `C1 CONTRADICTED: …`, `NEW: …`, `NEW BLOCKER: …`, `HIGH: …`, `MEDIUM: …`, `OPEN:
/// …`.
fn findings(lines: &str) -> Value {
    let mut found = json!({
        "answers": {}, "contradicted": [], "new_questions": [],
        "settled": [], "assumed": [], "open_questions": [],
    });
    for line in lines.lines() {
        let Some((label, text)) = line.split_once(": ") else {
            continue;
        };
        let (list, item) = match label.split_once(' ').unwrap_or((label, "")) {
            ("HIGH", _) => ("settled", text.into()),
            ("MEDIUM", _) => ("assumed", text.into()),
            ("OPEN", _) => ("open_questions", text.into()),
            ("NEW", rest) => {
                let blocker = !rest.is_empty();
                ("new_questions", json!({"text": text, "blocker": blocker}))
            }
            (claim, "CONTRADICTED") => ("contradicted", json!({"claim": claim, "reason": text})),
            (question, "DISSENT") => {
                found["answers"][question]["dissent"] = text.into();
                continue;
            }
            (question, outcome) if question.starts_with('Q') => {
                let outcome = outcome.to_lowercase();
                let answer = json!({"outcome": outcome, "text": text, "dissent": ""});
                found["answers"][question] = answer;
                continue;
            }
            _ => continue,
        };
        found[list].as_array_mut().unwrap().push(item);
    }
    found
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
