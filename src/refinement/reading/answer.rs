//! From segments to findings.

use std::collections::BTreeSet;

use crate::refinement::batches::QuestionBatch;
use crate::refinement::finding::PanelFinding;
use crate::refinement::label::{Label, LabelOutcome, Matter};
use crate::stopping::convergence::QuestionKey;

use super::content;
use super::lines::lines;
use super::segments::{Segment, segments};
use super::table::labelled_rows;

/// The most characters of an answer, of a reason or a dissent, and of a new question.
const ANSWER_LENGTH: usize = 1_200;
const REASON_LENGTH: usize = 600;
const QUESTION_LENGTH: usize = 300;
/// The most new questions of an answer.
const MOST_NEW: usize = 20;

/// What a finding has where its label has no text.
const NO_REASON: &str = "no reason stated";

/// What an answer says, as far as it can be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AnswerReading {
    /// In the order of the questions, then of the claims, then new questions as they stand.
    pub(super) findings: Vec<PanelFinding>,
    /// Questions without a usable label.
    pub(super) unlabelled: Vec<QuestionKey>,
    /// Questions with labels that contradict each other.
    pub(super) contradictory: Vec<QuestionKey>,
}

/// Reads the findings of an answer, and the questions that it says nothing readable about.
pub fn read_answer(text: &str, batch: &QuestionBatch) -> (Vec<PanelFinding>, Vec<QuestionKey>) {
    let reading = read(text, batch);
    let unread = batch
        .keys()
        .into_iter()
        .filter(|key| reading.unlabelled.contains(key) || reading.contradictory.contains(key));
    let unread = unread.collect();
    (reading.findings, unread)
}

pub(super) fn read(text: &str, batch: &QuestionBatch) -> AnswerReading {
    let lines = labelled_rows(lines(text, batch), batch);
    let segments = segments(&lines, batch);
    let mut reading = AnswerReading::default();
    for (number, (key, _)) in (1..).zip(&batch.questions) {
        match Statements::of(&segments, number, key).finding(key) {
            Ok(Some(finding)) => reading.findings.push(finding),
            Ok(None) => reading.unlabelled.push(key.clone()),
            Err(Contradiction) => reading.contradictory.push(key.clone()),
        }
    }
    reading
        .findings
        .extend(contradicted_claims(&segments, batch));
    reading.findings.extend(new_questions(&segments, batch));
    reading
}

/// Labels of one question that exclude each other.
struct Contradiction;

/// What an answer states of one question.
#[derive(Default)]
struct Statements {
    answers: Vec<String>,
    open: Option<String>,
    deferred: Option<String>,
    dissent: Vec<String>,
}

impl Statements {
    fn of(segments: &[Segment], number: usize, key: &QuestionKey) -> Self {
        let mut statements = Self::default();
        let question = Matter::Question(number);
        for segment in segments {
            let Label::Finding(matter, outcome) = segment.label else {
                continue;
            };
            if matter == question {
                statements.add(segment, outcome, key);
            }
        }
        statements
    }

    fn add(&mut self, segment: &Segment, outcome: LabelOutcome, key: &QuestionKey) {
        match outcome {
            LabelOutcome::Answered => {
                let answer = content::paragraph(segment, ANSWER_LENGTH);
                let is_question = QuestionKey::of(&answer) == *key;
                if !is_question && !content::is_echo(&answer) && !content::is_no_answer(&answer) {
                    self.add_answer(answer);
                }
            }
            LabelOutcome::Open => add_reason(&mut self.open, segment),
            LabelOutcome::Deferred => add_reason(&mut self.deferred, segment),
            LabelOutcome::Dissent => {
                let dissent = content::paragraph(segment, REASON_LENGTH);
                let is_stated = !content::is_echo(&dissent) && !content::is_nothing(&dissent);
                if is_stated && !self.dissent.contains(&dissent) {
                    self.dissent.push(dissent);
                }
            }
            LabelOutcome::Contradicted => {}
        }
    }

    /// Adds an answer. One that repeats a part of another is the same answer.
    fn add_answer(&mut self, answer: String) {
        let key = QuestionKey::of(&answer);
        let begins = |one: &QuestionKey, other: &QuestionKey| {
            let rest = one.as_str().strip_prefix(other.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        for known in &mut self.answers {
            let known_key = QuestionKey::of(known);
            if begins(&known_key, &key) {
                return;
            }
            if begins(&key, &known_key) {
                *known = answer;
                return;
            }
        }
        self.answers.push(answer);
    }

    fn finding(self, key: &QuestionKey) -> Result<Option<PanelFinding>, Contradiction> {
        let question = key.clone();
        let mut answers = self.answers.into_iter();
        match (answers.next(), answers.next(), self.open, self.deferred) {
            (Some(answer), None, None, None) => Ok(Some(PanelFinding::Answered {
                question,
                answer,
                dissent: (!self.dissent.is_empty()).then(|| self.dissent.join("; ")),
            })),
            (None, None, Some(reason), None) => {
                Ok(Some(PanelFinding::StillOpen { question, reason }))
            }
            (None, None, None, Some(reason)) => {
                Ok(Some(PanelFinding::Deferred { question, reason }))
            }
            (None, None, None, None) => Ok(None),
            _ => Err(Contradiction),
        }
    }
}

/// Takes the first reason; a repeated instruction is none.
fn add_reason(known: &mut Option<String>, segment: &Segment) {
    let reason = content::paragraph(segment, REASON_LENGTH);
    if content::is_echo(&reason) {
        return;
    }
    let is_empty = |reason: &String| reason == NO_REASON;
    if known.as_ref().is_none_or(is_empty) {
        *known = Some(if reason.is_empty() {
            NO_REASON.to_owned()
        } else {
            reason
        });
    }
}

fn contradicted_claims<'a>(
    segments: &'a [Segment],
    batch: &'a QuestionBatch,
) -> impl Iterator<Item = PanelFinding> + 'a {
    (1..).zip(&batch.claims).filter_map(|(number, (claim, _))| {
        let label = Label::Finding(Matter::Claim(number), LabelOutcome::Contradicted);
        let reasons = segments
            .iter()
            .filter(|segment| segment.label == label)
            .map(|segment| content::paragraph(segment, REASON_LENGTH));
        let mut reasons =
            reasons.filter(|reason| !content::is_echo(reason) && !content::is_nothing(reason));
        Some(PanelFinding::Contradicted {
            claim: claim.clone(),
            reason: reasons.next()?,
        })
    })
}

/// Returns the new questions. A question that the document has is none.
fn new_questions(segments: &[Segment], batch: &QuestionBatch) -> Vec<PanelFinding> {
    let mut seen: BTreeSet<QuestionKey> = batch.keys().into_iter().collect();
    let mut found = Vec::new();
    for segment in segments {
        let blocker = match segment.label {
            Label::NewQuestion => false,
            Label::NewBlocker => true,
            Label::Finding(..) | Label::Reference(_) => continue,
        };
        for text in content::items(segment, QUESTION_LENGTH) {
            let is_stated = !content::is_echo(&text) && !content::is_nothing(&text);
            let key = QuestionKey::of(&text);
            if is_stated && !key.as_str().is_empty() && seen.insert(key) {
                found.push(PanelFinding::NewQuestion { text, blocker });
            }
        }
    }
    found.truncate(MOST_NEW);
    found
}
