//! The findings of a consultation, from its record.
//!
//! - The judge's verdict states them.
//! - Without a verdict, the judge's synthesis states them, and for a question that it leaves out,
//!   the experts that support the leading point.
//! - Without a synthesis, the experts' answers of Round 1 state them.
//!
//! Experts state a finding if all that say something about the question agree on its outcome.
//! Different words for an answer are dissent: no rule can tell whether they mean the same.

use std::mem::discriminant;

use crate::consultation::analysis::final_text::FinalText;
use crate::consultation::transcript::no_answer::{NoAnswer, no_answer};
use crate::domain::answer::artifact::{Independent, Severity, Synthesis};
use crate::domain::answer::confidence::Confidence;
use crate::domain::record::stored_record::{Completion, StoredRecord};
use crate::refinement::batches::QuestionBatch;
use crate::refinement::finding::{BatchFindings, FindingSource, PanelFinding};
use crate::stopping::convergence::QuestionKey;

use crate::text::clean::words;

use super::answer::{AnswerReading, read};

/// The reason if it has no answer.
pub fn findings_of(
    record: &StoredRecord,
    batch: &QuestionBatch,
) -> Result<BatchFindings, NoAnswer> {
    let id = record
        .consultation_id()
        .filter(|_| record.completion() == Completion::Completed)
        .ok_or_else(|| no_answer(record))?;
    let stated = if record.is_judged() {
        of_judge(record, batch)
    } else {
        of_first_round(record, batch)
    };
    let (reading, stated) = stated.ok_or_else(|| no_answer(record))?;
    let objections = objections(record);
    let mut findings = reading.findings;
    for finding in &mut findings {
        add_objections(finding, &objections, batch);
    }
    Ok(BatchFindings {
        source: FindingSource {
            consultation: id,
            confidence: record
                .calibrated_confidence
                .or(stated.map(Confidence::value)),
            calibrated: record.calibrated_confidence.is_some(),
            dissent: objections.into_iter().map(|(line, _)| line).collect(),
            degradations: record.degradations.clone(),
        },
        unread: reading.unread,
        findings,
    })
}

/// `None` for a verdict without words.
fn of_judge(
    record: &StoredRecord,
    batch: &QuestionBatch,
) -> Option<(AnswerReading, Option<Confidence>)> {
    let text = FinalText::of_judge(record);
    let stated = text.as_ref().filter(|text| !text.is_demonstration());
    let confidence = stated.and_then(|text| text.confidence);
    let reading = if let Some(verdict) = record.verdict() {
        text.map(|_| read(verdict.findings.as_deref(), batch))?
    } else {
        let synthesis = record.synthesis();
        let shared = read(synthesis.and_then(|held| held.findings.as_deref()), batch);
        shared.completed_by(&of_positions(record, &leading_side(record), batch))
    };
    Some((reading, confidence))
}

/// With the lowest confidence that they state; `None` without experts.
fn of_first_round(
    record: &StoredRecord,
    batch: &QuestionBatch,
) -> Option<(AnswerReading, Option<Confidence>)> {
    let experts: Vec<&Independent> = record.independents().collect();
    if experts.is_empty() {
        return None;
    }
    let stated = experts.iter().map(|held| {
        let model = record.model_of(record.agent(&held.agent_id)?)?;
        let text = FinalText::of_expert(held, model);
        text.confidence.filter(|_| !text.is_demonstration())
    });
    // One expert that states none leaves the answer without one.
    let stated: Option<Vec<Confidence>> = stated.collect();
    let lowest = stated.and_then(|stated| stated.into_iter().min_by_key(|one| one.millionths()));
    Some((of_positions(record, &experts, batch), lowest))
}

fn leading_side(record: &StoredRecord) -> Vec<&Independent> {
    let leading = record.synthesis().and_then(Synthesis::leading);
    record
        .independents()
        .filter(|held| leading.is_some_and(|point| point.is_supported_by(&held.agent_id)))
        .collect()
}

fn of_positions(
    record: &StoredRecord,
    experts: &[&Independent],
    batch: &QuestionBatch,
) -> AnswerReading {
    let readings: Vec<(&Independent, AnswerReading)> = experts
        .iter()
        .map(|held| (*held, read(held.findings.as_deref(), batch)))
        .collect();
    let mut joint = AnswerReading::default();
    for key in batch.keys() {
        let stated: Vec<(&Independent, &PanelFinding)> = readings
            .iter()
            .filter_map(|(held, own)| Some((*held, own.about(&key)?)))
            .collect();
        let is_like = |first: &PanelFinding| {
            let mut others = stated.iter();
            others.all(|(_, other)| discriminant(*other) == discriminant(first))
        };
        match stated.first() {
            Some((_, first)) if is_like(first) => {
                let agreed = agreed(record, &stated);
                let finding = agreed.unwrap_or_else(|| (*first).clone());
                joint.findings.push(finding);
            }
            Some(_) | None => joint.unread.push(key),
        }
    }
    // A claim that one expert alone contradicts stands; new questions cost nothing.
    for (_, own) in &readings {
        for finding in &own.findings {
            let supporters = readings.iter();
            let supporters = supporters.filter(|(_, other)| other.has_matter_of(finding));
            let is_new_question = matches!(finding, PanelFinding::NewQuestion { .. });
            if is_new_question || 2 * supporters.count() > experts.len() {
                joint.add_matter(finding);
            }
        }
    }
    joint
}

/// Returns the answer of the most confident expert, with the other answers as dissent; `None` for
/// findings that are no answers.
fn agreed(record: &StoredRecord, stated: &[(&Independent, &PanelFinding)]) -> Option<PanelFinding> {
    let answers: Vec<_> = stated
        .iter()
        .filter_map(|(held, finding)| match finding {
            PanelFinding::Answered {
                question,
                answer,
                dissent,
            } => Some((*held, question, answer, dissent)),
            _ => None,
        })
        .collect();
    // The first of equals.
    let (_, question, answer, _) = answers
        .iter()
        .rev()
        .max_by_key(|(held, ..)| held.confidence.map(Confidence::millionths))?;
    let key = QuestionKey::of(answer);
    let others = answers
        .iter()
        .filter(|(_, _, other, _)| QuestionKey::of(other) != key);
    let differing = others
        .map(|(held, _, other, _)| format!("{}: {other}", record.name_of(held.agent_id.as_str())));
    let stated = answers
        .iter()
        .filter_map(|(.., dissent)| (*dissent).clone());
    let dissent: Vec<String> = differing.chain(stated).collect();
    Some(PanelFinding::Answered {
        question: (*question).clone(),
        answer: (*answer).clone(),
        dissent: (!dissent.is_empty()).then(|| dissent.join("; ")),
    })
}

impl AnswerReading {
    fn completed_by(mut self, other: &Self) -> Self {
        let found = |key: &QuestionKey| other.about(key).cloned();
        self.findings.extend(self.unread.iter().filter_map(found));
        self.unread.retain(|key| other.about(key).is_none());
        for finding in &other.findings {
            self.add_matter(finding);
        }
        self
    }

    fn add_matter(&mut self, finding: &PanelFinding) {
        if finding.question().is_none() && !self.has_matter_of(finding) {
            self.findings.push(finding.clone());
        }
    }

    fn has_matter_of(&self, finding: &PanelFinding) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|one| one.matter().is_some() && one.matter() == finding.matter())
    }

    fn about(&self, key: &QuestionKey) -> Option<&PanelFinding> {
        self.findings
            .iter()
            .find(|finding| finding.question() == Some(key))
    }
}

/// An objection that the whole consultation leaves, in a line.
type Objection = (String, Severity);

/// For an answer without one, the points that the debate left open.
fn objections(record: &StoredRecord) -> Vec<Objection> {
    let dissent = record.dissent.iter().map(|dissent| {
        let line = attributed(&dissent.agent, &dissent.concern);
        (line, dissent.severity)
    });
    let left_open = record
        .open_points
        .iter()
        .filter(|_| record.verdict().is_none());
    let left_open = left_open.map(|point| {
        let views = point.views.iter();
        let views: Vec<String> = views
            .map(|view| attributed(&view.agent, &view.view))
            .collect();
        let line = attributed(&point.topic, &views.join("; "));
        (line, point.severity.unwrap_or_default())
    });
    let second = (record.judge_consistent == Some(false)).then(|| {
        let line = "the judge's second pass came to another verdict";
        (line.to_owned(), Severity::High)
    });
    dissent.chain(left_open).chain(second).collect()
}

fn attributed(by: &str, text: &str) -> String {
    match (by.trim(), text.trim()) {
        ("", text) => text.to_owned(),
        (by, "") => by.to_owned(),
        (by, text) => format!("{by}: {text}"),
    }
}

/// Takes objections that name the question, or the only question, unless little follows from them;
/// and grave ones that name no question.
fn add_objections(finding: &mut PanelFinding, objections: &[Objection], batch: &QuestionBatch) {
    let PanelFinding::Answered {
        question, dissent, ..
    } = finding
    else {
        return;
    };
    if dissent.is_some() {
        return;
    }
    let mut numbers = (1..).zip(&batch.questions);
    let Some((number, _)) = numbers.find(|(_, (key, _))| key == question) else {
        return;
    };
    let concerns = |(line, severity): &&Objection| {
        let named = questions_named(line);
        if !named.is_empty() || batch.questions.len() == 1 {
            let is_meant = named.is_empty() || named.contains(&number);
            is_meant && *severity > Severity::Low
        } else {
            *severity == Severity::High
        }
    };
    let concerning = objections.iter().filter(concerns);
    let lines: Vec<&str> = concerning.map(|(line, _)| line.as_str()).collect();
    if !lines.is_empty() {
        *dissent = Some(lines.join("; "));
    }
}

fn questions_named(text: &str) -> Vec<usize> {
    let numbers = words(text).filter_map(|word| word.strip_prefix(['Q', 'q'])?.parse().ok());
    numbers.collect()
}
