//! Guards: what a success needs besides its own value.

use crate::stopping::evaluation::{Bound, Rule, RuleKind, Value};

use super::super::evidence::TurnEvidence;
use super::super::thresholds::ExitThresholds;
use super::successes::{ALL_TASKS_DONE, COMPLETION, CONFIRMED_COMPLETION, EXPLICIT_DONE, stated};

/// A completion with open tasks needs an explicit signal of this turn.
pub(super) fn done_signal(evidence: &TurnEvidence) -> Rule {
    guard(
        "done_signal",
        "status that the agent states",
        Some(Value::word(stated(evidence))),
        (Bound::Is, Value::word("done")),
    )
    .guarding(&[COMPLETION])
}

/// Repeated claims do not make up for a checklist with many open tasks.
pub(super) fn enough_completed(thresholds: &ExitThresholds, evidence: &TurnEvidence) -> Rule {
    let rule = guard(
        "enough_completed",
        "completed tasks of the checklist",
        evidence.checklist.as_ref().map(|checklist| Value::Share {
            part: checklist.completed,
            of: checklist.total(),
        }),
        (Bound::AtLeast, Value::percent(thresholds.min_completion)),
    )
    .guarding(&[CONFIRMED_COMPLETION]);
    if evidence.completion_percent().is_none() {
        return rule.not_applicable();
    }
    rule
}

/// The agent does not say that it is not done. A status block says it explicitly and beats every
/// success (ralph-claude-code #88, #146); words say it only without an explicit "done".
pub(super) fn not_contradicted(evidence: &TurnEvidence) -> Rule {
    let words = evidence.words.as_ref();
    let admits_open_work = words.is_some_and(|words| words.admits_open_work);
    let contradiction = match stated(evidence) {
        "done" => "none",
        "none" if admits_open_work => "open_work",
        stated => stated,
    };
    guard(
        "not_contradicted",
        "what the agent says against completion",
        Some(Value::word(contradiction)),
        (Bound::Is, Value::word("none")),
    )
    .guarding(&[
        ALL_TASKS_DONE,
        COMPLETION,
        CONFIRMED_COMPLETION,
        EXPLICIT_DONE,
    ])
}

/// The tests did not fail. Without a result they say nothing.
pub(super) fn tests(evidence: &TurnEvidence) -> Rule {
    let tests = evidence.tests.as_ref();
    let result = tests.map(|tests| if tests.passed { "passed" } else { "failed" });
    let rule = guard(
        "tests",
        "result of the tests",
        result.map(Value::word),
        (Bound::Is, Value::word("passed")),
    )
    .guarding(&[
        ALL_TASKS_DONE,
        COMPLETION,
        CONFIRMED_COMPLETION,
        EXPLICIT_DONE,
    ]);
    if tests.is_none() {
        return rule.not_applicable();
    }
    rule
}

/// No open task is marked as a blocker.
pub(super) fn open_blockers(evidence: &TurnEvidence) -> Rule {
    let checklist = evidence.checklist.as_ref();
    let rule = guard(
        "open_blockers",
        "open tasks that are marked as blockers",
        checklist.map(|checklist| Value::Count(checklist.open_blockers)),
        (Bound::AtMost, Value::Count(0)),
    )
    .guarding(&[COMPLETION, CONFIRMED_COMPLETION]);
    if checklist.is_none() {
        return rule.not_applicable();
    }
    rule
}

fn guard(name: &str, metric: &str, value: Option<Value>, bound: (Bound, Value)) -> Rule {
    Rule::measured(RuleKind::Guard, name, metric, value, bound)
}
