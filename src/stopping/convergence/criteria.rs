//! The thresholds of convergence, the presets that people choose from, and what a document is
//! measured by.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::answer::confidence::Confidence;
use crate::stopping::evaluation::threshold::{Threshold, ThresholdError};

/// The thresholds of convergence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Criteria {
    /// No success counts before this iteration. At least 1.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub min_iterations: u64,
    /// The last iteration.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_iterations: u64,
    /// Comparisons in a row without a change of the open questions.
    #[cfg_attr(test, schemars(range(min = 1)))]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    Conservative,
    #[default]
    Balanced,
    Aggressive,
}

/// What must not change for the open questions to be stable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuleSet {
    #[default]
    Corrected,
    /// The criteria reference as it is worded, with its faults.
    StrictSeed,
}

impl Preset {
    #[cfg(test)]
    pub const ALL: [Self; 3] = [Self::Conservative, Self::Balanced, Self::Aggressive];

    /// Returns its thresholds, under the corrected rules.
    pub fn criteria(self) -> Criteria {
        let (min_iterations, max_iterations, stable_comparisons, max_open_questions, percent) =
            match self {
                Self::Conservative => (3, 7, 3, 2, 90_u8),
                Self::Balanced => (2, 5, 2, 3, 80),
                Self::Aggressive => (1, 3, 2, 5, 70),
            };
        Criteria {
            min_iterations,
            max_iterations,
            stable_comparisons,
            max_open_questions,
            high_confidence_ratio: Confidence::new(f64::from(percent) / 100.0).unwrap_or_default(),
            stable_by: StableBy::Set,
            require_evidence: false,
            rule_set: RuleSet::Corrected,
        }
    }
}

impl Criteria {
    /// The highest maximum of iterations; a loop of more is a runaway.
    pub const MAX_ITERATIONS: u64 = 100;

    /// Returns the same thresholds under the rules of the criteria reference, which compare numbers
    /// of questions and count every item.
    #[must_use]
    pub fn in_strict_seed(self) -> Self {
        Self {
            stable_by: StableBy::Count,
            require_evidence: false,
            rule_set: RuleSet::StrictSeed,
            ..self
        }
    }

    /// Refuses thresholds that can never be reached or never matter. The settings in errors are
    /// flags of the command line.
    ///
    /// The stability of the preset that the criteria are made from may lie beyond a lower maximum:
    /// a loop of two iterations needs no other `--stable`.
    pub fn validate(&self, preset: Preset) -> Result<(), ThresholdError> {
        let max_iterations = Threshold::new("--max-iterations", self.max_iterations)
            .at_least(1, "a loop has at least one iteration")?
            .at_most(Self::MAX_ITERATIONS, "a loop needs a cap; the most is 100")?;
        Threshold::new("--min-iterations", self.min_iterations)
            .at_least(1, "every loop has one iteration; the least is 1")?
            .no_more_than(&max_iterations)?;
        let stable = Threshold::new("--stable", self.stable_comparisons)
            .at_least(1, "every iteration would reach it; the least is 1")?;
        if self.stable_comparisons != preset.criteria().stable_comparisons {
            // The first iteration has nothing to be compared with.
            stable.below(&max_iterations)?;
        }
        Threshold::new("--ratio", self.high_confidence_ratio.value())
            .less_than(1.0, "no share exceeds it; it must be below 1")?;
        self.validate_rule_set()
    }

    /// Refuses options that the strict rules do not have.
    fn validate_rule_set(&self) -> Result<(), ThresholdError> {
        match self.rule_set {
            RuleSet::Corrected => Ok(()),
            RuleSet::StrictSeed if self.require_evidence => Err(refused(
                "--require-evidence",
                "the rules of `--strict-seed` count every item",
            )),
            RuleSet::StrictSeed if self.stable_by == StableBy::Set => Err(refused(
                "--stable-by",
                "the rules of `--strict-seed` compare numbers of questions",
            )),
            RuleSet::StrictSeed => Ok(()),
        }
    }
}

fn refused(setting: &'static str, problem: &str) -> ThresholdError {
    ThresholdError {
        setting,
        value: "set".to_owned(),
        problem: problem.to_owned(),
    }
}

/// The names of the rules of convergence.
pub const MINIMUM_ITERATIONS: &str = "minimum_iterations";
pub const MAXIMUM_ITERATIONS: &str = "maximum_iterations";
pub const QUESTION_STABILITY: &str = "question_stability";
pub const LOW_QUESTIONS: &str = "low_questions";
pub const HIGH_CONFIDENCE: &str = "high_confidence";
pub const OPEN_BLOCKERS: &str = "open_blockers";
pub const PARSED: &str = "parsed";
pub const OSCILLATION: &str = "oscillation";
pub const NOTHING_TO_ASK: &str = "nothing_to_ask";

/// A question by its words: in lower case, with one space between them, without tags and
/// punctuation, so that another layout is not another question.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct QuestionKey(String);

/// The document after one iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DocumentMeasure {
    /// `None` if no section of the document could be read.
    pub counts: Option<ItemCounts>,
    /// The open questions, those with tags included.
    pub questions: BTreeSet<QuestionKey>,
    /// Open questions that are marked as blockers.
    pub open_blockers: u64,
    /// Open questions that wait for a person. They are counted as open, and are not asked.
    pub deferred: u64,
    /// Open questions that the panel was asked, with no readable answer. That they stayed open says
    /// nothing of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub unanswered: u64,
}

/// The items of the sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ItemCounts {
    pub high: u64,
    /// Those of `high` that name a source.
    pub sourced_high: u64,
    pub medium: u64,
    /// Questions in `Open Questions`, with `[NEW]` and `[DEFERRED]` ones.
    pub open: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl QuestionKey {
    pub fn of(text: &str) -> Self {
        Self(crate::text::clean::lower_words(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ItemCounts {
    pub fn total(&self) -> u64 {
        self.high + self.medium + self.open
    }
}
