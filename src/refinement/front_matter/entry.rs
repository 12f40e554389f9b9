//! The state of convergence in the front matter.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::hash::sha256;
use crate::stopping::convergence::{ConvergenceRule, DocumentMeasure, QuestionKey};
use crate::stopping::evaluation::{Class, Evaluation};

/// What follows the name of a rule that the strict seed's set decided by.
pub(in crate::refinement) const STRICT_SEED: &str = " (strict seed)";

/// What the front matter says after an iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConvergenceEntry {
    pub iteration: u64,
    pub questions_stable_count: u64,
    /// `None` if the document could not be read.
    pub open_questions_count: Option<u64>,
    /// From 0 to 1; two decimals in the document. `None` without items.
    pub high_confidence_ratio: Option<f64>,
    /// `continue`, or the class of the stop.
    pub last_decision: String,
    /// The rule that decided, followed by ` (strict seed)` if blockers did not count.
    pub rule: Option<String>,
    /// The fingerprint of the open questions.
    pub questions: String,
}

/// A key of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EntryKey {
    Iteration,
    QuestionsStableCount,
    OpenQuestionsCount,
    HighConfidenceRatio,
    LastDecision,
    Rule,
    Questions,
}

/// Returns the share of items of high confidence, from 0 to 1; `None` without items.
#[expect(clippy::cast_precision_loss, reason = "a document has few items")]
pub(in crate::refinement) fn high_confidence_ratio(measure: &DocumentMeasure) -> Option<f64> {
    let counts = measure.counts.filter(|counts| counts.total() > 0)?;
    Some(counts.high as f64 / counts.total() as f64)
}

impl ConvergenceEntry {
    /// Describes the document after an iteration.
    pub fn new(
        iteration: u64,
        questions_stable_count: u64,
        measure: &DocumentMeasure,
        evaluation: &Evaluation,
    ) -> Self {
        let counts = measure.counts;
        Self {
            iteration,
            questions_stable_count,
            open_questions_count: counts.map(|counts| counts.open),
            high_confidence_ratio: high_confidence_ratio(measure),
            last_decision: decision_word(evaluation.class()).to_owned(),
            rule: evaluation.deciding_rule().map(|rule| {
                let is_strict = evaluation
                    .rule(ConvergenceRule::OpenBlockers.name())
                    .is_none();
                format!("{rule}{}", if is_strict { STRICT_SEED } else { "" })
            }),
            questions: fingerprint(&measure.questions),
        }
    }

    /// Reads an entry by the texts of its keys.
    pub(super) fn of(text: impl Fn(EntryKey) -> Option<String>) -> Option<Self> {
        let count = |key| text(key)?.parse::<u64>().ok();
        let ratio = text(EntryKey::HighConfidenceRatio).and_then(|text| text.parse().ok());
        Some(Self {
            iteration: count(EntryKey::Iteration)?,
            questions_stable_count: count(EntryKey::QuestionsStableCount)?,
            open_questions_count: count(EntryKey::OpenQuestionsCount),
            high_confidence_ratio: ratio.filter(|ratio| (0.0..=1.0).contains(ratio)),
            last_decision: text(EntryKey::LastDecision)?,
            rule: text(EntryKey::Rule),
            questions: text(EntryKey::Questions)?,
        })
    }
}

/// Returns the first 12 digits of the SHA-256 of the keys, a line each.
pub fn fingerprint(questions: &BTreeSet<QuestionKey>) -> String {
    let keys: Vec<&str> = questions.iter().map(QuestionKey::as_str).collect();
    sha256(&keys.join("\n")).chars().take(12).collect()
}

fn decision_word(class: Option<Class>) -> &'static str {
    match class {
        None => "continue",
        Some(Class::Done) => "done",
        Some(Class::Converged) => "converged",
        Some(Class::Exhausted) => "exhausted",
        Some(Class::Halted) => "halted",
        Some(Class::Stalled) => "stalled",
        Some(Class::NeedsHuman) => "needs_human",
        Some(Class::Cancelled) => "cancelled",
    }
}

impl EntryKey {
    pub(super) const ALL: [Self; 7] = [
        Self::Iteration,
        Self::QuestionsStableCount,
        Self::OpenQuestionsCount,
        Self::HighConfidenceRatio,
        Self::LastDecision,
        Self::Rule,
        Self::Questions,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Iteration => "iteration",
            Self::QuestionsStableCount => "questions_stable_count",
            Self::OpenQuestionsCount => "open_questions_count",
            Self::HighConfidenceRatio => "high_confidence_ratio",
            Self::LastDecision => "last_decision",
            Self::Rule => "rule",
            Self::Questions => "questions",
        }
    }

    /// Returns the value of an entry as text; `None` for null.
    pub(super) fn text(self, entry: &ConvergenceEntry) -> Option<String> {
        match self {
            Self::Iteration => Some(entry.iteration.to_string()),
            Self::QuestionsStableCount => Some(entry.questions_stable_count.to_string()),
            Self::OpenQuestionsCount => entry.open_questions_count.map(|count| count.to_string()),
            Self::HighConfidenceRatio => entry
                .high_confidence_ratio
                .map(|ratio| format!("{ratio:.2}")),
            Self::LastDecision => Some(entry.last_decision.clone()),
            Self::Rule => entry.rule.clone(),
            Self::Questions => Some(entry.questions.clone()),
        }
    }

    pub(super) fn is_number(self) -> bool {
        match self {
            Self::Iteration
            | Self::QuestionsStableCount
            | Self::OpenQuestionsCount
            | Self::HighConfidenceRatio => true,
            Self::LastDecision | Self::Rule | Self::Questions => false,
        }
    }
}
