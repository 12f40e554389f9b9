//! The corrected rules. Successes come before limits, so that a document that converges on the last
//! iteration has converged. What they correct in the criteria reference:
//!
//! - Stability compares the questions, not only their number: five answered questions and five new
//!   ones are a change.
//! - Few questions are no success while one of them is a blocker.
//! - A document without items has not converged: nothing is open in it because nothing is in it.
//! - Questions that the panel was asked and did not answer, as in an outage of a provider, are not
//!   unchanged: nothing is known of them.
//! - Questions that alternate between two sets stall the loop; more iterations would repeat them.
//! - Questions that all wait for a person need that person, not another iteration.

use std::collections::BTreeSet;

use super::criteria::{
    self as named, Criteria, DocumentMeasure, ItemCounts, QuestionKey, RuleSet, StableBy,
};
use crate::stopping::evaluation::value::wide;
use crate::stopping::evaluation::{Bound, Checks, Class, Value};

/// Two returns are two whole periods: `A, B, A, B`.
const RETURNS: u64 = 2;

pub(super) fn checks(criteria: &Criteria, measures: &[DocumentMeasure]) -> Checks {
    let last = measures.last().filter(|measure| measure.counts.is_some());
    let counts = last.and_then(|measure| measure.counts);
    let stable = stable_count(criteria, measures);
    let open = counts.map(|counts| counts.open);
    let deferred = measures.last().map_or(0, |measure| measure.deferred);
    let most = criteria.max_iterations;
    let checks = Checks::default()
        // Success needs a number of iterations.
        .guard(&[], named::MINIMUM_ITERATIONS)
        .of("iterations")
        .at_least(Value::count(measures.len()), criteria.min_iterations)
        .success(Class::Converged, named::QUESTION_STABILITY)
        .of("comparisons in a row without a change of the open questions")
        .at_least(
            counts.map(|_| Value::Count(stable)),
            criteria.stable_comparisons,
        )
        .detail(comparison(criteria, measures))
        .message(stability(criteria, stable))
        .success(Class::Converged, named::LOW_QUESTIONS)
        .of("open questions")
        .at_most(open.map(Value::Count), criteria.max_open_questions)
        .message(match open.unwrap_or_default() {
            0 => "no question is open".to_owned(),
            1 => "1 question is open".to_owned(),
            open => format!("{open} questions are open"),
        });
    high_confidence(checks, criteria, counts)
        .guard(&[named::LOW_QUESTIONS], named::OPEN_BLOCKERS)
        .of("open questions that are marked as blockers")
        .at_most(last.map(|measure| Value::Count(measure.open_blockers)), 0)
        .guard(&[], named::PARSED)
        .of("items of the document")
        .at_least(counts.map(|counts| Value::Count(counts.total())), 1)
        .limit(Class::Stalled, named::OSCILLATION)
        .of("times in a row that the open questions changed back")
        .reaches(counts.map(|_| returns(measures)), RETURNS)
        .message("the open questions alternate between two sets")
        // Before the minimum of iterations it does not apply: the same document may have converged
        // when the minimum is met.
        .limit(Class::NeedsHuman, named::NOTHING_TO_ASK)
        .of("open questions that wait for a person")
        .compare(
            open.map(|of| Value::Share { part: deferred, of }),
            Bound::LessThan,
            Value::percent(100),
        )
        .applies_if(open != Some(0) && wide(measures.len()) >= criteria.min_iterations)
        .message(match deferred {
            1 => "the one open question waits for a person".to_owned(),
            deferred => format!("all {deferred} open questions wait for a person"),
        })
        // Every loop has a cap.
        .limit(Class::Exhausted, named::MAXIMUM_ITERATIONS)
        .of("iterations")
        .reaches(wide(measures.len()), most)
        .message(match most {
            1 => "the one iteration is used up".to_owned(),
            most => format!("all {most} iterations are used up"),
        })
}

/// The share of no items is unknown.
fn high_confidence(checks: Checks, criteria: &Criteria, counts: Option<ItemCounts>) -> Checks {
    let ItemCounts {
        high,
        sourced_high,
        medium,
        open,
    } = counts.unwrap_or_default();
    let (part, sourced, with_source) = if criteria.require_evidence {
        let sourced = format!(" ({sourced_high} with a source)");
        (sourced_high, sourced, " and name a source")
    } else {
        (high, String::new(), "")
    };
    let of = high + medium + open;
    let detail = format!("High: {high}{sourced}, Medium: {medium}, Open: {open}");
    checks
        .success(Class::Converged, named::HIGH_CONFIDENCE)
        .of("items of high confidence")
        .compare(
            counts.map(|_| Value::Share { part, of }),
            Bound::MoreThan,
            Value::decimal(criteria.high_confidence_ratio),
        )
        .detail(counts.map(|_| detail))
        .message(format!(
            "{part} of {of} items are of high confidence{with_source}"
        ))
}

fn stability(criteria: &Criteria, stable: u64) -> String {
    let what = match criteria.stable_by {
        StableBy::Set => "the open questions",
        StableBy::Count => "the number of open questions",
    };
    match stable {
        1 => format!("{what} did not change in 1 comparison"),
        stable => format!("{what} did not change in {stable} comparisons in a row"),
    }
}

/// Describes the last two iterations: `Previous: 7, Current: 5, Changed: YES`. Whether questions
/// without an answer have changed is unknown.
fn comparison(criteria: &Criteria, measures: &[DocumentMeasure]) -> Option<String> {
    let (current, before) = measures.split_last()?;
    let open = |measure: &DocumentMeasure| Some(measure.counts?.open);
    let now = open(current)?;
    let Some(previous) = before.last() else {
        return Some(format!("Previous: none, Current: {now}"));
    };
    let Some(then) = open(previous) else {
        return Some(format!("Previous: unknown, Current: {now}"));
    };
    let changed = if is_same(criteria, previous, current) {
        match (
            unanswered(criteria, previous),
            unanswered(criteria, current),
        ) {
            (0, 0) => "NO".to_owned(),
            (before, 0) => format!("UNKNOWN (no readable answer before: {before} of {then})"),
            (_, missing) => format!("UNKNOWN (no readable answer: {missing} of {now})"),
        }
    } else {
        "YES".to_owned()
    };
    let churn = match (criteria.rule_set, churn(previous, current)) {
        (RuleSet::StrictSeed, _) | (RuleSet::Corrected, 0) => String::new(),
        (RuleSet::Corrected, new) => format!(" (churn: {new} of {now} are others)"),
    };
    Some(format!(
        "Previous: {then}, Current: {now}, Changed: {changed}{churn}"
    ))
}

/// A first iteration has nothing to be compared with: 0.
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

/// The reference does not know them.
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

/// `None` if the document could not be read.
fn questions(measure: &DocumentMeasure) -> Option<&BTreeSet<QuestionKey>> {
    measure.counts.map(|_| &measure.questions)
}
