//! Limits: the loop must not continue, although the work is not done.

use crate::domain::time::Timestamp;
use crate::stopping::evaluation::{Bound, Class, Rule, RuleKind, Value};

use super::super::breaker::BreakerState;
use super::super::evidence::{ObstacleKind, TurnEvidence};
use super::super::run_state::{CircuitPhase, RunState};
use super::super::thresholds::ExitThresholds;
use super::successes::stated;

/// The agent program could not work: no further turn can.
pub(super) fn obstacle(evidence: &TurnEvidence) -> (Rule, Class, String) {
    let obstacle = evidence.obstacle.as_ref();
    let (kind, reason) = match obstacle.map(|obstacle| obstacle.kind) {
        None => ("none", ""),
        Some(ObstacleKind::Permission) => ("permission", "a permission is missing"),
        Some(ObstacleKind::Authentication) => ("authentication", "the agent is not signed in"),
        Some(ObstacleKind::Quota) => ("quota", "a quota is used up"),
    };
    let rule = limit(
        "obstacle",
        "reason why the agent program cannot work",
        Some(Value::word(kind)),
        (Bound::Is, Value::word("none")),
    );
    let own_words = obstacle.map_or("", |obstacle| obstacle.message.as_str());
    (rule, Class::Halted, format!("{reason}: {own_words}"))
}

/// The circuit was open when the turn was checked. Half-open, the turn is the probe.
pub(in super::super) fn circuit_open(run: &RunState, now: Timestamp) -> (Rule, Class, String) {
    let rule = limit(
        "circuit_open",
        "circuit before this turn",
        Some(Value::word(run.circuit_before.name())),
        (Bound::IsNot, Value::word(CircuitPhase::Open.name())),
    );
    let message = match run.breaker.state(now) {
        BreakerState::Open { until, why, .. } => {
            format!("the circuit is open until {until}: {why}")
        }
        BreakerState::Closed { .. } | BreakerState::HalfOpen { .. } => String::new(),
    };
    (rule, Class::Halted, message)
}

/// This turn opened the circuit. The rules before it name the reason more precisely if their
/// thresholds are reached too.
pub(super) fn circuit_opened(run: &RunState, now: Timestamp) -> (Rule, Class, String) {
    let state = run.breaker.state(now);
    let rule = limit(
        "circuit_opened",
        "circuit after this turn",
        Some(Value::word(CircuitPhase::of(&state).name())),
        (Bound::IsNot, Value::word(CircuitPhase::Open.name())),
    );
    let message = match state {
        BreakerState::Open { until, why, .. } => {
            format!("the circuit opens until {until}: {why}")
        }
        BreakerState::Closed { .. } | BreakerState::HalfOpen { .. } => String::new(),
    };
    (rule, Class::Halted, message)
}

/// The agent says explicitly that it waits for a person.
pub(super) fn blocked(evidence: &TurnEvidence) -> (Rule, Class, String) {
    let rule = limit(
        "blocked",
        "status that the agent states",
        Some(Value::word(stated(evidence))),
        (Bound::IsNot, Value::word("blocked")),
    );
    let source = evidence
        .status
        .as_ref()
        .map_or("", |status| status.source.as_str());
    (
        rule,
        Class::NeedsHuman,
        format!("the agent is blocked: {source}"),
    )
}

/// Turns in a row ask the person and change nothing.
pub(super) fn questions(thresholds: &ExitThresholds, run: &RunState) -> (Rule, Class, String) {
    let turns = run.question_turns;
    let rule = in_a_row(
        "questions",
        "turns in a row that only ask the person",
        Some(turns),
        thresholds.question_turns,
    );
    (
        rule,
        Class::NeedsHuman,
        format!("{turns} turns in a row ask a question and change nothing"),
    )
}

/// Turns in a row state a low confidence as a number. Words alone never stop a loop.
pub(super) fn low_confidence(
    thresholds: &ExitThresholds,
    run: &RunState,
    evidence: &TurnEvidence,
) -> (Rule, Class, String) {
    let least = thresholds.min_confidence;
    let turns = run.low_confidence_turns;
    let rule = in_a_row(
        "low_confidence",
        "turns in a row with a low stated confidence",
        evidence.stated_confidence.map(|_| turns),
        thresholds.low_confidence_turns,
    );
    let rule = match evidence.stated_confidence {
        Some(stated) => rule.with_detail(format!("stated: {stated}%, low: below {least}%")),
        None => rule,
    };
    (
        rule,
        Class::NeedsHuman,
        format!("{turns} turns in a row state a confidence below {least}%"),
    )
}

/// Too many different errors in one turn, which completed no further task.
pub(super) fn distinct_errors(
    thresholds: &ExitThresholds,
    run: &RunState,
) -> (Rule, Class, String) {
    let errors = run.error_turns.len();
    let rule = limit(
        "distinct_errors",
        "different errors in this turn",
        Some(Value::count(errors)),
        (Bound::AtMost, Value::Count(thresholds.max_errors)),
    );
    (
        rule,
        Class::Halted,
        format!("{errors} different errors in one turn"),
    )
}

/// The same error occurs in turns in a row, and no further task was completed meanwhile.
pub(super) fn same_error(thresholds: &ExitThresholds, run: &RunState) -> (Rule, Class, String) {
    let longest = run.longest_error();
    let turns = longest.map_or(0, |(_, turns)| turns);
    let rule = in_a_row(
        "same_error",
        "turns in a row with the same error",
        Some(turns),
        thresholds.same_error_turns,
    );
    let Some((error, _)) = longest else {
        return (rule, Class::Halted, String::new());
    };
    (
        rule.with_detail(error.0.clone()),
        Class::Halted,
        format!("{turns} turns in a row have the same error: {}", error.0),
    )
}

/// The agent program failed or said nothing, turn after turn, and nothing changed.
pub(super) fn failed_turns(thresholds: &ExitThresholds, run: &RunState) -> (Rule, Class, String) {
    let turns = run.failed_turns;
    let rule = in_a_row(
        "failed_turns",
        "turns in a row in which the agent program failed or said nothing",
        Some(turns),
        thresholds.failed_turns,
    );
    (
        rule,
        Class::Halted,
        format!("the agent program failed or said nothing in {turns} turns in a row"),
    )
}

/// Nothing that is measured changed in turns in a row: completed tasks, Git, tests. Unknown if
/// nothing is measured. Claims and questions are no progress (ralph-claude-code: a loop that only
/// says "done" never stagnates).
pub(super) fn stagnation(thresholds: &ExitThresholds, run: &RunState) -> (Rule, Class, String) {
    let turns = run.progress.unchanged_turns;
    let rule = in_a_row(
        "stagnation",
        "turns in a row without progress",
        run.progress.is_measured().then_some(turns),
        thresholds.stagnation_turns,
    );
    (
        rule,
        Class::Stalled,
        format!("{turns} turns in a row made no progress"),
    )
}

/// Every loop has a cap.
pub(in super::super) fn turns(
    thresholds: &ExitThresholds,
    run: &RunState,
) -> (Rule, Class, String) {
    let most = thresholds.max_turns;
    let rule = in_a_row("turns", "turns of this run", Some(run.turn), most);
    (
        rule,
        Class::Exhausted,
        format!("the run has had its {most} turns"),
    )
}

/// A limit on turns: it fires at the threshold.
fn in_a_row(name: &str, metric: &str, turns: Option<u64>, threshold: u64) -> Rule {
    let bound = (Bound::LessThan, Value::Count(threshold));
    limit(name, metric, turns.map(Value::Count), bound)
}

fn limit(name: &str, metric: &str, value: Option<Value>, bound: (Bound, Value)) -> Rule {
    Rule::measured(RuleKind::Limit, name, metric, value, bound)
}
