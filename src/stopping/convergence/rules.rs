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

use crate::stopping::evaluation::{Bound, Checks, Class, Evaluation, Rule, RuleKind, Value};

use super::criteria::{Criteria, RuleSet, StableBy};
use super::history::{churn, is_same, returns, stable_count, unanswered, wide};
use super::measure::{DocumentMeasure, ItemCounts};
use super::rule::ConvergenceRule;

/// Two returns are two whole periods: `A, B, A, B`.
const RETURNS: u64 = 2;

/// Evaluates the rules after the last iteration.
pub(super) fn evaluate(criteria: &Criteria, measures: &[DocumentMeasure]) -> Evaluation {
    Checks::default()
        .guard(minimum_iterations(criteria, measures))
        .with(question_stability(criteria, measures))
        .with(low_questions(criteria, measures))
        .with(high_confidence(criteria, measures))
        .guard(open_blockers(measures))
        .guard(parsed(measures))
        .with(oscillation(measures))
        .with(nothing_to_ask(criteria, measures))
        .with(maximum_iterations(criteria, measures))
        .evaluation()
}

/// Success needs a number of iterations.
pub(super) fn minimum_iterations(criteria: &Criteria, measures: &[DocumentMeasure]) -> Rule {
    measured(
        RuleKind::Guard,
        ConvergenceRule::MinimumIterations,
        "iterations",
        Some(Value::count(measures.len())),
        (Bound::AtLeast, Value::Count(criteria.min_iterations)),
    )
}

/// Every loop has a cap.
pub(super) fn maximum_iterations(
    criteria: &Criteria,
    measures: &[DocumentMeasure],
) -> (Rule, Class, String) {
    let most = criteria.max_iterations;
    let rule = measured(
        RuleKind::Limit,
        ConvergenceRule::MaximumIterations,
        "iterations",
        Some(Value::count(measures.len())),
        (Bound::LessThan, Value::Count(most)),
    );
    let message = match most {
        1 => "the one iteration is used up".to_owned(),
        most => format!("all {most} iterations are used up"),
    };
    (rule, Class::Exhausted, message)
}

/// The open questions did not change in comparisons in a row.
pub(super) fn question_stability(
    criteria: &Criteria,
    measures: &[DocumentMeasure],
) -> (Rule, Class, String) {
    let stable = stable_count(criteria, measures);
    let rule = measured(
        RuleKind::Success,
        ConvergenceRule::QuestionStability,
        "comparisons in a row without a change of the open questions",
        counts(measures).map(|_| Value::Count(stable)),
        (Bound::AtLeast, Value::Count(criteria.stable_comparisons)),
    );
    let rule = match comparison(criteria, measures) {
        Some(detail) => rule.with_detail(detail),
        None => rule,
    };
    let what = match criteria.stable_by {
        StableBy::Set => "the open questions",
        StableBy::Count => "the number of open questions",
    };
    let times = match stable {
        1 => "1 comparison".to_owned(),
        stable => format!("{stable} comparisons in a row"),
    };
    let message = format!("{what} did not change in {times}");
    (rule, Class::Converged, message)
}

/// Few questions are open.
pub(super) fn low_questions(
    criteria: &Criteria,
    measures: &[DocumentMeasure],
) -> (Rule, Class, String) {
    let open = counts(measures).map(|counts| counts.open);
    let rule = measured(
        RuleKind::Success,
        ConvergenceRule::LowQuestions,
        "open questions",
        open.map(Value::Count),
        (Bound::AtMost, Value::Count(criteria.max_open_questions)),
    );
    let message = match open.unwrap_or_default() {
        0 => "no question is open".to_owned(),
        1 => "1 question is open".to_owned(),
        open => format!("{open} questions are open"),
    };
    (rule, Class::Converged, message)
}

/// Most items are of high confidence. The share of no items is unknown.
pub(super) fn high_confidence(
    criteria: &Criteria,
    measures: &[DocumentMeasure],
) -> (Rule, Class, String) {
    let counts = counts(measures);
    let part = |counts: ItemCounts| {
        if criteria.require_evidence {
            counts.sourced_high
        } else {
            counts.high
        }
    };
    let rule = measured(
        RuleKind::Success,
        ConvergenceRule::HighConfidence,
        "items of high confidence",
        counts.map(|counts| Value::Share {
            part: part(counts),
            of: counts.total(),
        }),
        (
            Bound::MoreThan,
            Value::decimal(criteria.high_confidence_ratio),
        ),
    );
    let Some(counts) = counts else {
        return (rule, Class::Converged, String::new());
    };
    let ItemCounts {
        high, medium, open, ..
    } = counts;
    let (sourced, with_source) = if criteria.require_evidence {
        let sourced = format!(" ({} with a source)", counts.sourced_high);
        (sourced, " and name a source")
    } else {
        (String::new(), "")
    };
    let detail = format!("High: {high}{sourced}, Medium: {medium}, Open: {open}");
    let message = format!(
        "{} of {} items are of high confidence{with_source}",
        part(counts),
        counts.total()
    );
    (rule.with_detail(detail), Class::Converged, message)
}

/// No open question is a blocker.
fn open_blockers(measures: &[DocumentMeasure]) -> Rule {
    let last = measures.last().filter(|measure| measure.counts.is_some());
    measured(
        RuleKind::Guard,
        ConvergenceRule::OpenBlockers,
        "open questions that are marked as blockers",
        last.map(|measure| Value::Count(measure.open_blockers)),
        (Bound::AtMost, Value::Count(0)),
    )
    .guarding(&[ConvergenceRule::LowQuestions.name()])
}

/// The document has items.
fn parsed(measures: &[DocumentMeasure]) -> Rule {
    measured(
        RuleKind::Guard,
        ConvergenceRule::Parsed,
        "items of the document",
        counts(measures).map(|counts| Value::Count(counts.total())),
        (Bound::AtLeast, Value::Count(1)),
    )
}

/// The questions alternate between two sets.
fn oscillation(measures: &[DocumentMeasure]) -> (Rule, Class, String) {
    let returns = returns(measures);
    let rule = measured(
        RuleKind::Limit,
        ConvergenceRule::Oscillation,
        "times in a row that the open questions changed back",
        counts(measures).map(|_| Value::Count(returns)),
        (Bound::LessThan, Value::Count(RETURNS)),
    );
    let message = "the open questions alternate between two sets".to_owned();
    (rule, Class::Stalled, message)
}

/// Every open question waits for a person. Before the minimum of iterations it does not apply: the
/// same document may have converged when the minimum is met.
fn nothing_to_ask(criteria: &Criteria, measures: &[DocumentMeasure]) -> (Rule, Class, String) {
    let deferred = measures.last().map_or(0, |measure| measure.deferred);
    let open = counts(measures).map(|counts| counts.open);
    let rule = measured(
        RuleKind::Limit,
        ConvergenceRule::NothingToAsk,
        "open questions that wait for a person",
        open.map(|open| Value::Share {
            part: deferred,
            of: open,
        }),
        (Bound::LessThan, Value::percent(100)),
    );
    let rule = if open == Some(0) || wide(measures.len()) < criteria.min_iterations {
        rule.not_applicable()
    } else {
        rule
    };
    let message = match deferred {
        1 => "the one open question waits for a person".to_owned(),
        deferred => format!("all {deferred} open questions wait for a person"),
    };
    (rule, Class::NeedsHuman, message)
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

/// Returns the counts of the last iteration.
fn counts(measures: &[DocumentMeasure]) -> Option<ItemCounts> {
    measures.last()?.counts
}

fn measured(
    kind: RuleKind,
    rule: ConvergenceRule,
    metric: &str,
    value: Option<Value>,
    bound: (Bound, Value),
) -> Rule {
    Rule::measured(kind, rule.name(), metric, value, bound)
}
