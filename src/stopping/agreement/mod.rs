//! How often panels of a size and an agreement are right, as measured on recorded answers.
//!
//! Fitted on every other question of MMLU-Pro, over all panels of three to seven of the 14 models
//! that are right in more than 40 % of its questions, each size with the same weight. On the other
//! questions the expected calibration error of such a panel is 0.02 in the mean; `docs/debate.md`
//! has the table and what it assumes. Stated confidences have no part in it, since they are
//! inflated.
//!
//! Invariant: another supporter never lowers the probability, and another opponent never raises it.

#[cfg(test)]
mod tests;

use super::number;

/// With fewer answers there is no probability: nothing was fitted on them.
const FEWEST: usize = 3;

/// A larger panel counts as one of this size with the same share of supporters.
const MOST: usize = 7;

/// Returns the probability that the leading answer of so many is right: from 0.16 to 0.91 for three
/// to seven answers. `None` without supporters.
pub fn probability(supporters: usize, answered: usize) -> Option<f64> {
    let share = number(supporters) / number(answered);
    let log_odds = -3.58 + 4.60 * share + 0.66 * number(answered.min(MOST)).ln();
    let is_measured = answered >= FEWEST && (1..=answered).contains(&supporters);
    is_measured.then(|| 1.0 / (1.0 + (-log_odds).exp()))
}
