//! Turns what an answer says about labels into findings about questions and claims.

use std::collections::BTreeSet;

use crate::domain::answer::artifact::{FindingOutcome, Findings, QuestionFinding};
use crate::refinement::batches::QuestionBatch;
use crate::refinement::document::words::TABLES;
use crate::refinement::finding::PanelFinding;
use crate::stopping::convergence::QuestionKey;
use crate::text::clean::{one_line, shortened};

/// The most characters of an answer, of a reason or a dissent, and of a new question.
const ANSWER_LENGTH: usize = 1_200;
const REASON_LENGTH: usize = 600;
const QUESTION_LENGTH: usize = 300;
/// The most new questions of an answer.
const MAX_NEW: usize = 20;

/// What a finding has that states no reason.
const NO_REASON: &str = "no reason stated";

/// What an answer says, as far as it can be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AnswerReading {
    /// In the order of the questions, then of the claims, then new questions as they stand.
    pub(super) findings: Vec<PanelFinding>,
    /// The questions of the batch that a text is silent about, or that texts contradict each other
    /// about.
    pub(super) unread: Vec<QuestionKey>,
}

pub(super) fn read(found: Option<&Findings>, batch: &QuestionBatch) -> AnswerReading {
    let mut reading = AnswerReading::default();
    for (number, (key, _)) in (1..).zip(&batch.questions) {
        let answer = found.and_then(|found| found.answers.get(&format!("Q{number}")));
        match answer.and_then(|answer| finding(answer, key)) {
            Some(finding) => reading.findings.push(finding),
            None => reading.unread.push(key.clone()),
        }
    }
    let Some(found) = found else {
        return reading;
    };
    for (number, (claim, _)) in (1..).zip(&batch.claims) {
        let label = format!("C{number}");
        let named = found
            .contradicted
            .iter()
            .filter(|named| named.claim == label);
        let mut reasons = named.map(|named| paragraph(&named.reason, REASON_LENGTH));
        if let Some(reason) = reasons.find(|reason| !is_nothing(reason)) {
            let claim = claim.clone();
            reading
                .findings
                .push(PanelFinding::Contradicted { claim, reason });
        }
    }
    reading.findings.extend(new_questions(found, batch));
    reading
}

fn finding(answer: &QuestionFinding, key: &QuestionKey) -> Option<PanelFinding> {
    let question = key.clone();
    let reason = || match paragraph(&answer.text, REASON_LENGTH) {
        reason if is_nothing(&reason) => NO_REASON.to_owned(),
        reason => reason,
    };
    match answer.outcome {
        FindingOutcome::Open => Some(PanelFinding::StillOpen {
            reason: reason(),
            question,
        }),
        FindingOutcome::Deferred => Some(PanelFinding::Deferred {
            reason: reason(),
            question,
        }),
        FindingOutcome::Answered => {
            let text = paragraph(&answer.text, ANSWER_LENGTH);
            // Small models answer with a question, or repeat it.
            let is_question = text.ends_with(['?', '？']) || QuestionKey::of(&text) == *key;
            let dissent = paragraph(&answer.dissent, REASON_LENGTH);
            (!is_question && !is_no_answer(&text)).then(|| PanelFinding::Answered {
                question,
                answer: text,
                dissent: (!is_nothing(&dissent)).then_some(dissent),
            })
        }
    }
}

/// A question that the document has is not new.
fn new_questions(found: &Findings, batch: &QuestionBatch) -> Vec<PanelFinding> {
    let mut seen: BTreeSet<QuestionKey> = batch.keys().into_iter().collect();
    let texts = found
        .new_questions
        .iter()
        .map(|new| (paragraph(&new.text, QUESTION_LENGTH), new.blocker));
    let new = texts.filter(|(text, _)| !is_nothing(text) && seen.insert(QuestionKey::of(text)));
    let new = new.map(|(text, blocker)| PanelFinding::NewQuestion { text, blocker });
    new.take(MAX_NEW).collect()
}

/// Returns a text as one paragraph of at most so many characters.
pub(super) fn paragraph(text: &str, length: usize) -> String {
    shortened(&one_line(text), length)
}

/// Whether a text says nothing, or that there is nothing.
pub(super) fn is_nothing(text: &str) -> bool {
    TABLES.list("nothings").has(QuestionKey::of(text).as_str())
}

/// "No" and "none" answer questions.
pub(super) fn is_no_answer(text: &str) -> bool {
    TABLES
        .list("non_answers")
        .has(QuestionKey::of(text).as_str())
}
