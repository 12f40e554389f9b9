//! Successes: the work is done.

use crate::stopping::evaluation::{Bound, Class, Rule, RuleKind, Value};

use super::super::breaker::TurnProgress;
use super::super::evidence::{Checklist, StatedState, TurnEvidence};
use super::super::run_state::RunState;
use super::super::thresholds::ExitThresholds;

pub(super) const ALL_TASKS_DONE: &str = "all_tasks_done";
pub(super) const COMPLETION: &str = "completion";
pub(super) const CONFIRMED_COMPLETION: &str = "confirmed_completion";
pub(super) const EXPLICIT_DONE: &str = "explicit_done";

/// Every task of the checklist is completed or cancelled. A checklist without tasks is unknown: an
/// empty plan is no finished one.
pub(super) fn all_tasks_done(evidence: &TurnEvidence) -> (Rule, Class, String) {
    let rule = Rule::measured(
        RuleKind::Success,
        ALL_TASKS_DONE,
        "completed tasks of the checklist",
        completed_share(evidence),
        (Bound::AtLeast, Value::percent(100)),
    );
    let completed = evidence
        .checklist
        .as_ref()
        .map_or(0, |checklist| checklist.completed);
    let message = match completed {
        1 => "the one task of the checklist is completed".to_owned(),
        completed => format!("all {completed} tasks of the checklist are completed"),
    };
    (rule, Class::Done, message)
}

/// Enough of the checklist is completed, and the agent says explicitly that it is done: the guard
/// `done_signal` asks for that. Original: 80 % alone, which ends with work left.
pub(super) fn completion(
    thresholds: &ExitThresholds,
    evidence: &TurnEvidence,
) -> (Rule, Class, String) {
    let rule = Rule::measured(
        RuleKind::Success,
        COMPLETION,
        "completed tasks of the checklist",
        completed_share(evidence),
        (Bound::AtLeast, Value::percent(thresholds.min_completion)),
    );
    let tasks = evidence.checklist.clone().unwrap_or_default();
    let message = format!(
        "the agent says that it is done, with {} of {} tasks completed",
        tasks.completed,
        tasks.total()
    );
    (rule, Class::Done, message)
}

/// The agent claims in turns in a row that the whole work is done, while the same tasks are
/// completed. The first claim only arms the rule (evidence: ralph-claude-code #91, #146, #224).
///
/// A turn that still changes the work while it claims to be done doubles what is needed: an agent
/// that works is not cut off, and one that polishes forever still ends.
pub(super) fn confirmed_completion(
    thresholds: &ExitThresholds,
    run: &RunState,
) -> (Rule, Class, String) {
    let needed = match run.last_progress {
        TurnProgress::Made => thresholds.completion_claims.saturating_mul(2),
        TurnProgress::None | TurnProgress::Unknown => thresholds.completion_claims,
    };
    let rule = Rule::measured(
        RuleKind::Success,
        CONFIRMED_COMPLETION,
        "turns in a row that claim completion",
        Some(Value::Count(run.claims.turns)),
        (Bound::AtLeast, Value::Count(needed)),
    );
    let message = format!(
        "{} turns in a row say that all work is done",
        run.claims.turns
    );
    (rule, Class::Done, message)
}

/// The agent says explicitly that it is done, and there is no checklist to hold against it.
pub(super) fn explicit_done(evidence: &TurnEvidence) -> (Rule, Class, String) {
    let rule = Rule::measured(
        RuleKind::Success,
        EXPLICIT_DONE,
        "status that the agent states",
        Some(Value::word(stated(evidence))),
        (Bound::Is, Value::word("done")),
    );
    let has_tasks = evidence.completion_percent().is_some();
    let rule = if has_tasks {
        rule.not_applicable()
    } else {
        rule
    };
    let source = evidence
        .status
        .as_ref()
        .map_or("", |status| status.source.as_str());
    let message = format!("the agent says that it is done: {source}");
    (rule, Class::Done, message)
}

/// Returns the status that the agent states in a block or a tag, in one word.
pub(super) fn stated(evidence: &TurnEvidence) -> &'static str {
    match evidence.status.as_ref().map(|status| status.state) {
        None => "none",
        Some(StatedState::Done) => "done",
        Some(StatedState::NotDone) => "not_done",
        Some(StatedState::Blocked) => "blocked",
    }
}

/// Returns the completed share of the checklist; `None` without a checklist. The share of an empty
/// one cannot be compared with anything.
fn completed_share(evidence: &TurnEvidence) -> Option<Value> {
    let share = |checklist: &Checklist| Value::Share {
        part: checklist.completed,
        of: checklist.total(),
    };
    evidence.checklist.as_ref().map(share)
}
