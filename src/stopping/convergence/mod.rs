//! Decides when the refinement of a document ends: its open questions no longer change, few are
//! left, or most of its claims are of high confidence.
//!
//! The policy takes one [`DocumentMeasure`] for each iteration, in order, and returns an
//! [`Evaluation`]. It knows no documents, panels or files:
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! use conclave::stopping::convergence::{
//!     DocumentMeasure, ItemCounts, Preset, QuestionKey, evaluate, stable_count,
//! };
//!
//! let counts = ItemCounts { high: 4, sourced_high: 4, medium: 4, open: 7 };
//! let questions: BTreeSet<_> = (0..7).map(|n| QuestionKey::of(&format!("Why {n}?"))).collect();
//! let measure = DocumentMeasure { counts: Some(counts), questions, ..DocumentMeasure::default() };
//! let measures = vec![measure; 3];
//!
//! let criteria = Preset::Balanced.criteria();
//! let decided = |iteration: usize| evaluate(&criteria, &measures[..iteration]);
//! assert!(!decided(2).stops());
//! assert_eq!(decided(3).deciding_rule(), Some("question_stability"));
//! assert_eq!(stable_count(&criteria, &measures), 2);
//! ```

use super::evaluation::Evaluation;

pub mod criteria;
mod rules;
#[cfg(test)]
mod tests;

pub use self::criteria::{Criteria, Preset, RuleSet, StableBy};
pub use self::criteria::{DocumentMeasure, ItemCounts, QuestionKey};
pub use self::rules::stable_count;

/// The rules of the criteria reference in its own order, with its faults: the maximum comes before
/// the successes, an unchanged number of questions is stable whatever the questions are, an empty
/// document has few of them, and blockers do not matter. It tests the minimum first and continues
/// below it: because the maximum is no lower, that is a guard of the three successes.
const STRICT_SEED: [&str; 5] = [
    criteria::MINIMUM_ITERATIONS,
    criteria::MAXIMUM_ITERATIONS,
    criteria::QUESTION_STABILITY,
    criteria::LOW_QUESTIONS,
    criteria::HIGH_CONFIDENCE,
];

/// Evaluates the rules after the last of these iterations.
pub fn evaluate(criteria: &Criteria, measures: &[DocumentMeasure]) -> Evaluation {
    let checks = match criteria.rule_set {
        RuleSet::Corrected => rules::checks(criteria, measures),
        RuleSet::StrictSeed => {
            rules::checks(&criteria.in_strict_seed(), measures).only(&STRICT_SEED)
        }
    };
    checks.evaluation()
}
