//! Comparisons of iterations: stability, churn and oscillation. An iteration whose document could
//! not be read equals no other.

use std::collections::BTreeSet;

use super::criteria::{Criteria, StableBy};
use super::measure::{DocumentMeasure, QuestionKey};

/// Returns how many comparisons in a row, up to the last iteration, found the open questions
/// unchanged. A first iteration has nothing to be compared with: 0.
pub fn stable_count(criteria: &Criteria, measures: &[DocumentMeasure]) -> u64 {
    let unchanged = measures
        .windows(2)
        .rev()
        .take_while(|pair| matches!(pair, [previous, current] if is_unchanged(criteria.stable_by, previous, current)));
    wide(unchanged.count())
}

/// Returns whether the open questions of two iterations are the same.
pub(super) fn is_unchanged(
    stable_by: StableBy,
    previous: &DocumentMeasure,
    current: &DocumentMeasure,
) -> bool {
    match stable_by {
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
        [first, second, third] => same_set(first, third) && !same_set(second, third),
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
