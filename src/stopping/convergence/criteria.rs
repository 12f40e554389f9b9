//! The thresholds of convergence, and the presets that people choose from.

use serde::{Deserialize, Serialize};

use crate::domain::confidence::Confidence;

/// The thresholds of convergence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criteria {
    /// No success counts before this iteration. At least 1.
    pub min_iterations: u64,
    /// The last iteration.
    pub max_iterations: u64,
    /// Comparisons in a row without a change of the open questions.
    pub stable_comparisons: u64,
    /// At most so many open questions are few.
    pub max_open_questions: u64,
    /// The share of high-confidence items that must be exceeded.
    pub high_confidence_ratio: Confidence,
    pub stable_by: StableBy,
    /// Only items that name a source count as of high confidence.
    pub require_evidence: bool,
    pub rule_set: RuleSet,
}

/// A set of thresholds, from the criteria reference that the rules come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    Conservative,
    Balanced,
    Aggressive,
}

/// What must not change for the open questions to be stable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StableBy {
    /// The questions themselves, compared by their words.
    #[default]
    Set,
    /// Their number.
    Count,
}

/// The rules that the thresholds are used by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSet {
    #[default]
    Corrected,
    /// The criteria reference as it is worded, with its faults.
    StrictSeed,
}
