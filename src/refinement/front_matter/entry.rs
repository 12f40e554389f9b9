//! The state of convergence in the front matter.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::hash::sha256;
use crate::stopping::convergence::criteria;
use crate::stopping::convergence::{DocumentMeasure, QuestionKey};
use crate::stopping::evaluation::Evaluation;
use crate::stopping::share;
use crate::text::node::NodeMap;

/// What follows the name of a rule that the strict seed's set decided by.
pub(in crate::refinement) const STRICT_SEED: &str = " (strict seed)";

/// What the front matter says after an iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConvergenceEntry {
    pub iteration: u64,
    pub questions_stable_count: u64,
    /// `None` if the document could not be read.
    pub open_questions_count: Option<u64>,
    /// From 0 to 1; two decimals in the document. `None` without items.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub high_confidence_ratio: Option<f64>,
    /// `continue`, or the class of the stop.
    #[cfg_attr(test, schemars(extend("enum" = ["continue", "converged", "exhausted", "stalled", "needs_human"])))]
    pub last_decision: String,
    /// The rule that decided, followed by ` (strict seed)` if blockers did not count.
    pub rule: Option<String>,
    /// The fingerprint of the open questions: the beginning of a SHA-256.
    pub questions: String,
}

/// The keys of the entry, in their order.
pub(super) const KEYS: [&str; 7] = [
    "iteration",
    "questions_stable_count",
    "open_questions_count",
    "high_confidence_ratio",
    "last_decision",
    "rule",
    "questions",
];

/// From 0 to 1; `None` without items.
pub(in crate::refinement) fn high_confidence_ratio(measure: &DocumentMeasure) -> Option<f64> {
    let counts = measure.counts?;
    share(counts.high, counts.total())
}

impl ConvergenceEntry {
    /// Describes the document after an iteration, with the fingerprint of its questions.
    pub fn new(
        iteration: u64,
        questions_stable_count: u64,
        questions: String,
        measure: &DocumentMeasure,
        evaluation: &Evaluation,
    ) -> Self {
        let counts = measure.counts;
        Self {
            iteration,
            questions_stable_count,
            open_questions_count: counts.map(|counts| counts.open),
            high_confidence_ratio: high_confidence_ratio(measure),
            last_decision: evaluation.decision_name(),
            rule: evaluation.deciding_rule().map(|rule| {
                let is_strict = evaluation.rule(criteria::OPEN_BLOCKERS).is_none();
                format!("{rule}{}", if is_strict { STRICT_SEED } else { "" })
            }),
            questions,
        }
    }

    /// `None` if one is missing or has no meaning.
    pub(super) fn of(values: &NodeMap) -> Option<Self> {
        let text = |key: &str| values.get(key)?.scalar();
        let count = |key: &str| text(key)?.parse::<u64>().ok();
        let ratio = text("high_confidence_ratio").and_then(|text| text.parse().ok());
        Some(Self {
            iteration: count("iteration")?,
            questions_stable_count: count("questions_stable_count")?,
            open_questions_count: count("open_questions_count"),
            high_confidence_ratio: ratio.filter(|ratio| (0.0..=1.0).contains(ratio)),
            last_decision: text("last_decision")?,
            rule: text("rule"),
            questions: text("questions")?,
        })
    }

    pub(super) fn members(&self) -> Vec<(&'static str, String)> {
        let count = |count: u64| Some(count.to_string());
        let values = [
            count(self.iteration),
            count(self.questions_stable_count),
            self.open_questions_count.and_then(count),
            self.high_confidence_ratio
                .map(|ratio| format!("{ratio:.2}")),
            Some(word(&self.last_decision)),
            self.rule.as_deref().map(word),
            // A fingerprint can look like a number.
            Some(quoted(&self.questions)),
        ];
        let members = KEYS.into_iter().zip(values);
        members
            .filter_map(|(key, value)| Some((key, value?)))
            .collect()
    }
}

/// Writes a text, in quotes if a reader could take it for another kind of value.
fn word(text: &str) -> String {
    let is_word = text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let is_other = matches!(
        text,
        "" | "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    if is_word && !is_other {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// Writes a text as JSON does, which is YAML too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The first 12 digits of the SHA-256 of the keys, a line each.
pub fn fingerprint(questions: &BTreeSet<QuestionKey>) -> String {
    let keys: Vec<&str> = questions.iter().map(QuestionKey::as_str).collect();
    sha256(&keys.join("\n")).chars().take(12).collect()
}
