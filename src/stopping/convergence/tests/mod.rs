//! Loops of refinement, iteration by iteration.

use crate::domain::answer::confidence::Confidence;
use crate::stopping::convergence::criteria::{HIGH_CONFIDENCE, QUESTION_STABILITY};
use crate::stopping::evaluation::{Class, Evaluation};

use super::*;

mod criteria;
mod rules;
mod corrections;
mod strict_seed;
mod properties;

/// A document with a question for each letter, and otherwise items of medium confidence.
fn asking(questions: &str) -> DocumentMeasure {
    let questions: std::collections::BTreeSet<_> = questions
        .chars()
        .map(|letter| QuestionKey::of(&letter.to_string()))
        .collect();
    DocumentMeasure {
        counts: Some(ItemCounts {
            medium: 20,
            open: u64::try_from(questions.len()).unwrap(),
            ..ItemCounts::default()
        }),
        questions,
        ..DocumentMeasure::default()
    }
}

/// A document with so many questions, the same ones as any other with as many.
fn open(questions: usize) -> DocumentMeasure {
    asking("abcdefghijklmnopqrst".get(..questions).unwrap())
}

fn items(high: u64, medium: u64, questions: usize) -> DocumentMeasure {
    let measure = open(questions);
    let open = u64::try_from(questions).unwrap();
    DocumentMeasure {
        counts: Some(ItemCounts {
            high,
            sourced_high: high,
            medium,
            open,
        }),
        ..measure
    }
}

/// A document of which no section could be read.
fn unread() -> DocumentMeasure {
    DocumentMeasure::default()
}

fn balanced() -> Criteria {
    Preset::Balanced.criteria()
}

/// The rule that decides after each iteration, and a dash where the loop continues.
fn play(criteria: &Criteria, measures: &[DocumentMeasure]) -> String {
    let decided = (1..=measures.len()).map(|iteration| {
        let evaluation = evaluate(criteria, &measures[..iteration]);
        evaluation.deciding_rule().unwrap_or("-").to_owned()
    });
    decided.collect::<Vec<_>>().join(" ")
}

fn play_counts(criteria: &Criteria, counts: &[usize]) -> String {
    let measures: Vec<_> = counts.iter().map(|&count| open(count)).collect();
    play(criteria, &measures)
}

fn last(criteria: &Criteria, measures: &[DocumentMeasure]) -> Evaluation {
    evaluate(criteria, measures)
}

fn detail(criteria: &Criteria, measures: &[DocumentMeasure], rule: &str) -> String {
    let evaluation = evaluate(criteria, measures);
    let rule = evaluation.rule(rule).unwrap();
    rule.detail.clone().unwrap_or_default()
}

fn message(evaluation: &Evaluation) -> String {
    match &evaluation.decision {
        crate::stopping::evaluation::Decision::Continue => "continue".to_owned(),
        crate::stopping::evaluation::Decision::Stop { message, .. } => message.clone(),
    }
}

fn ratio(value: f64) -> Confidence {
    Confidence::new(value).unwrap()
}
