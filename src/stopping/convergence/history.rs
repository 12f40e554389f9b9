//! Comparisons of iterations: stability, churn and oscillation. An iteration whose document could
//! not be read equals no other, and neither does one whose panel left out questions.

use std::collections::BTreeSet;

use super::criteria::{Criteria, RuleSet, StableBy};
use super::measure::{DocumentMeasure, QuestionKey};

/// Returns how many comparisons in a row, up to the last iteration, found the open questions
/// unchanged. A first iteration has nothing to be compared with: 0.
pub fn stable_count(criteria: &Criteria, measures: &[DocumentMeasure]) -> u64 {
    let unchanged = measures.windows(2).rev().take_while(
        |pair| matches!(pair, [previous, current] if is_unchanged(criteria, previous, current)),
    );
    wide(unchanged.count())
}

/// Returns whether the open questions of two iterations are the same because the panel left them
/// so.
pub(super) fn is_unchanged(
    criteria: &Criteria,
    previous: &DocumentMeasure,
    current: &DocumentMeasure,
) -> bool {
    is_same(criteria, previous, current)
        && unanswered(criteria, previous) == 0
        && unanswered(criteria, current) == 0
}

/// Returns the open questions without a readable answer. The reference does not know them.
pub(super) fn unanswered(criteria: &Criteria, measure: &DocumentMeasure) -> u64 {
    match criteria.rule_set {
        RuleSet::Corrected => measure.unanswered,
        RuleSet::StrictSeed => 0,
    }
}

/// Returns whether the open questions of two iterations are the same, for whatever reason.
pub(super) fn is_same(
    criteria: &Criteria,
    previous: &DocumentMeasure,
    current: &DocumentMeasure,
) -> bool {
    match criteria.stable_by {
        StableBy::Set => same_set(previous, current),
        StableBy::Count => same_count(previous, current),
    }
}

/// Returns how many of the open questions are others than before although their number is the same;
/// 0 if the number differs too.
pub(super) fn churn(previous: &DocumentMeasure, current: &DocumentMeasure) -> u64 {
    if !same_count(previous, current) {
        return 0;
    }
    wide(current.questions.difference(&previous.questions).count())
}

/// Returns how many times in a row, up to the last iteration, the questions changed back to those
/// of two iterations before. `A, B, A, B` has two.
pub(super) fn returns(measures: &[DocumentMeasure]) -> u64 {
    let returned = |triple: &&[DocumentMeasure]| match triple {
        [first, second, third] => {
            let is_answered = triple.iter().all(|measure| measure.unanswered == 0);
            is_answered && same_set(first, third) && !same_set(second, third)
        }
        _ => false,
    };
    wide(measures.windows(3).rev().take_while(returned).count())
}

fn same_count(previous: &DocumentMeasure, current: &DocumentMeasure) -> bool {
    match (previous.counts, current.counts) {
        (Some(previous), Some(current)) => previous.open == current.open,
        (None, _) | (_, None) => false,
    }
}

fn same_set(previous: &DocumentMeasure, current: &DocumentMeasure) -> bool {
    matches!((questions(previous), questions(current)), (Some(previous), Some(current)) if previous == current)
}

/// Returns the open questions; `None` if the document could not be read.
fn questions(measure: &DocumentMeasure) -> Option<&BTreeSet<QuestionKey>> {
    measure.counts.map(|_| &measure.questions)
}

pub(super) fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
