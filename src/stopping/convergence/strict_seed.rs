//! The criteria reference in its own order, with its faults: the maximum comes before the
//! successes, an unchanged number of questions is stable whatever the questions are, an empty
//! document has few of them, and blockers do not matter. [`super::rules`] corrects them.
//!
//! A document that could not be read has no numbers, here as there: it fires nothing.

use crate::stopping::evaluation::{Checks, Evaluation};

use super::criteria::Criteria;
use super::measure::DocumentMeasure;
use super::rules;

/// Evaluates the rules after the last iteration.
///
/// The reference tests the minimum first and continues below it. Because the maximum is no lower,
/// that is a guard of the three successes.
pub(super) fn evaluate(criteria: &Criteria, measures: &[DocumentMeasure]) -> Evaluation {
    let criteria = &criteria.in_strict_seed();
    Checks::in_stated_order()
        .guard(rules::minimum_iterations(criteria, measures))
        .with(rules::maximum_iterations(criteria, measures))
        .with(rules::question_stability(criteria, measures))
        .with(rules::low_questions(criteria, measures))
        .with(rules::high_confidence(criteria, measures))
        .evaluation()
}
