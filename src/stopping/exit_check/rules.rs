//! The corrected rules, in order of priority: the first that fires decides.
//!
//! They keep the order and the thresholds of the original script, and correct what its users and
//! those of similar loops reported:
//!
//! - The success of all tasks comes before an open circuit: finished work is done, whatever else
//!   went wrong.
//! - Completion needs an explicit signal, or a claim that the next turn repeats. An explicit "not
//!   done" beats every success.
//! - Progress is what changed, never what is claimed. Questions to the person have a counter of
//!   their own.
//! - Confidence counts only as a number, and only twice in a row.
//! - The same error in three turns stops the loop, not only many different ones.
//! - A circuit that this very turn opens comes after the rules for stagnation and errors, which
//!   name the reason better.

use crate::domain::time::Timestamp;
use crate::stopping::evaluation::{Checks, Class, Evaluation, Value};

use super::breaker::{BreakerState, TurnProgress};
use super::evidence::{ObstacleKind, StatedState, TurnEvidence};
use super::run_state::LoopRun;
use super::thresholds::ExitThresholds;

const ALL_TASKS_DONE: &str = "all_tasks_done";
const COMPLETION: &str = "completion";
const CONFIRMED_COMPLETION: &str = "confirmed_completion";
const EXPLICIT_DONE: &str = "explicit_done";
const SUCCESSES: [&str; 4] = [
    ALL_TASKS_DONE,
    COMPLETION,
    CONFIRMED_COMPLETION,
    EXPLICIT_DONE,
];

/// A turn that was added to its run, with what the rules look at.
#[derive(Clone, Copy, Debug)]
pub struct CheckedTurn<'a> {
    pub thresholds: &'a ExitThresholds,
    pub run: &'a LoopRun,
    pub evidence: &'a TurnEvidence,
    pub now: Timestamp,
}

pub fn evaluate(turn: &CheckedTurn<'_>) -> Evaluation {
    let checks = before_successes(Checks::default(), turn);
    let checks = successes(checks, turn);
    let checks = guards(checks, turn);
    let checks = persons(checks, turn);
    let checks = halts(checks, turn);
    turns(checks, turn).evaluation()
}

/// Rules that decide before anything that the agent says: the agent program could not work, all
/// tasks are done, or the circuit was open.
fn before_successes(checks: Checks, turn: &CheckedTurn<'_>) -> Checks {
    let obstacle = turn.evidence.obstacle.as_ref();
    let (kind, reason) = match obstacle.map(|obstacle| obstacle.kind) {
        None => ("none", ""),
        Some(ObstacleKind::Permission) => ("permission", "a permission is missing"),
        Some(ObstacleKind::Authentication) => ("authentication", "the agent is not signed in"),
        Some(ObstacleKind::Quota) => ("quota", "a quota is used up"),
    };
    let own_words = obstacle.map_or("", |obstacle| obstacle.message.as_str());
    let checklist = turn.evidence.checklist.as_ref();
    let completed = match checklist.map_or(0, |checklist| checklist.completed) {
        1 => "the one task of the checklist is completed".to_owned(),
        completed => format!("all {completed} tasks of the checklist are completed"),
    };
    let checks = checks
        .limit(Class::Halted, "obstacle")
        .of("reason why the agent program cannot work")
        .is(kind, "none")
        .message(format!("{reason}: {own_words}"))
        // Every task is completed or cancelled. A checklist without tasks is unknown: an empty plan
        // is no finished one.
        .success(Class::Done, ALL_TASKS_DONE)
        .of("completed tasks of the checklist")
        .at_least(completed_share(turn.evidence), Value::percent(100))
        .message(completed);
    circuit_open(checks, turn)
}

/// The circuit was open when the turn was checked. Half-open, the turn is the probe.
pub(super) fn circuit_open(checks: Checks, turn: &CheckedTurn<'_>) -> Checks {
    let checks = checks
        .limit(Class::Halted, "circuit_open")
        .of("circuit before this turn");
    circuit(checks, &turn.run.circuit_before, "is open")
}

fn circuit(checks: Checks, state: &BreakerState, verb: &str) -> Checks {
    let message = match state {
        BreakerState::Open { until, why, .. } => format!("the circuit {verb} until {until}: {why}"),
        BreakerState::Closed { .. } | BreakerState::HalfOpen { .. } => String::new(),
    };
    checks.is_not(state.name(), "open").message(message)
}

fn successes(checks: Checks, turn: &CheckedTurn<'_>) -> Checks {
    let (thresholds, run, evidence) = (turn.thresholds, turn.run, turn.evidence);
    let tasks = evidence.checklist.clone().unwrap_or_default();
    // A turn that still changes the work while it claims to be done doubles what is needed: an
    // agent that works is not cut off, and one that polishes forever still ends.
    let claims = match run.last_progress {
        TurnProgress::Made => thresholds.completion_claims.saturating_mul(2),
        TurnProgress::None | TurnProgress::Unknown => thresholds.completion_claims,
    };
    checks
        // Enough of the checklist is completed, and the agent says explicitly that it is done: the
        // guard `done_signal` asks for that. Original: 80 % alone, which ends with work left.
        .success(Class::Done, COMPLETION)
        .of("completed tasks of the checklist")
        .at_least(
            completed_share(evidence),
            Value::percent(thresholds.min_completion),
        )
        .message(format!(
            "the agent says that it is done, with {} of {} tasks completed",
            tasks.completed,
            tasks.total()
        ))
        // The agent claims in turns in a row that the whole work is done, while the same tasks are
        // completed. The first claim only arms the rule (evidence: ralph-claude-code #91, #146,
        // #224).
        .success(Class::Done, CONFIRMED_COMPLETION)
        .of("turns in a row that claim completion")
        .at_least(Value::Count(run.claims.turns), claims)
        .message(format!(
            "{} turns in a row say that all work is done",
            run.claims.turns
        ))
        // There is no checklist to hold against an explicit word.
        .success(Class::Done, EXPLICIT_DONE)
        .of("status that the agent states")
        .is(stated(evidence), "done")
        .applies_if(evidence.completion_percent().is_none())
        .message(format!(
            "the agent says that it is done: {}",
            source(evidence)
        ))
}

fn guards(checks: Checks, turn: &CheckedTurn<'_>) -> Checks {
    let evidence = turn.evidence;
    let checklist = evidence.checklist.as_ref();
    let words = evidence.words.clone().unwrap_or_default();
    let contradiction = match stated(evidence) {
        "done" | "none" if words.admission.is_some() => "failure",
        "done" => "none",
        "none" if words.admits_open_work => "open_work",
        stated => stated,
    };
    let tests = evidence.tests.as_ref();
    let tests = tests.map(|tests| if tests.passed { "passed" } else { "failed" });
    checks
        // A completion with open tasks needs an explicit signal of this turn.
        .guard(&[COMPLETION], "done_signal")
        .of("status that the agent states")
        .is(stated(evidence), "done")
        // Repeated claims do not make up for a checklist with many open tasks.
        .guard(&[CONFIRMED_COMPLETION], "enough_completed")
        .of("completed tasks of the checklist")
        .at_least(
            completed_share(evidence),
            Value::percent(turn.thresholds.min_completion),
        )
        .applies_if(evidence.completion_percent().is_some())
        // A status block says it explicitly and beats every success (ralph-claude-code #88, #146).
        // Words say it without an explicit "done", and beside one if they admit a failure: then the
        // next turn has to say it without them.
        .guard(&SUCCESSES, "not_contradicted")
        .of("what the agent says against completion")
        .is(contradiction, "none")
        .detail(words.admission)
        // Without a result the tests say nothing.
        .guard(&SUCCESSES, "tests")
        .of("result of the tests")
        .is(tests, "passed")
        .applies_if(tests.is_some())
        .guard(&[COMPLETION, CONFIRMED_COMPLETION], "open_blockers")
        .of("open tasks that are marked as blockers")
        .at_most(
            checklist.map(|checklist| Value::Count(checklist.open_blockers)),
            0,
        )
        .applies_if(checklist.is_some())
}

fn persons(checks: Checks, turn: &CheckedTurn<'_>) -> Checks {
    let (thresholds, evidence) = (turn.thresholds, turn.evidence);
    let asking = turn.run.question_turns;
    let low = turn.run.low_confidence_turns;
    let least = thresholds.min_confidence;
    let stated_confidence = evidence.stated_confidence;
    checks
        .limit(Class::NeedsHuman, "blocked")
        .of("status that the agent states")
        .is_not(stated(evidence), "blocked")
        .message(format!("the agent is blocked: {}", source(evidence)))
        .limit(Class::NeedsHuman, "questions")
        .of("turns in a row that only ask the person")
        .reaches(asking, thresholds.question_turns)
        .message(format!(
            "{asking} turns in a row ask a question and change nothing"
        ))
        // Words alone never stop a loop.
        .limit(Class::NeedsHuman, "low_confidence")
        .of("turns in a row with a low stated confidence")
        .reaches(
            stated_confidence.map(|_| low),
            thresholds.low_confidence_turns,
        )
        .detail(stated_confidence.map(|stated| format!("stated: {stated}%, low: below {least}%")))
        .message(format!(
            "{low} turns in a row state a confidence below {least}%"
        ))
}

/// Limits on errors and on turns without progress. An error counts until a further task is
/// completed. The circuit that this turn opened comes last: the rules before it name the reason
/// more precisely if their thresholds are reached too.
fn halts(checks: Checks, turn: &CheckedTurn<'_>) -> Checks {
    let (thresholds, run) = (turn.thresholds, turn.run);
    let errors = run.error_turns.0.len();
    let longest = run.error_turns.longest();
    let turns = longest.map_or(0, |(_, turns)| u64::from(turns));
    let error = longest.map(|(error, _)| error.0.clone());
    let failed = run.failed_turns;
    let unchanged = run.progress.unchanged_turns;
    let checks = checks
        .limit(Class::Halted, "distinct_errors")
        .of("different errors in this turn")
        .at_most(Value::count(errors), thresholds.max_errors)
        .message(format!("{errors} different errors in one turn"))
        .limit(Class::Halted, "same_error")
        .of("turns in a row with the same error")
        .reaches(turns, thresholds.same_error_turns)
        .detail(error.clone())
        .message(format!(
            "{turns} turns in a row have the same error: {}",
            error.unwrap_or_default()
        ))
        .limit(Class::Halted, "failed_turns")
        .of("turns in a row in which the agent program failed or said nothing")
        .reaches(failed, thresholds.failed_turns)
        .message(format!(
            "the agent program failed or said nothing in {failed} turns in a row"
        ))
        // Claims and questions are no progress (ralph-claude-code: a loop that only says "done"
        // never stagnates).
        .limit(Class::Stalled, "stagnation")
        .of("turns in a row without progress")
        .reaches(
            run.progress.is_measured().then_some(unchanged),
            thresholds.stagnation_turns,
        )
        .message(format!("{unchanged} turns in a row made no progress"))
        .limit(Class::Halted, "circuit_opened")
        .of("circuit after this turn");
    circuit(checks, &run.breaker.state(turn.now), "opens")
}

/// Every loop has a cap.
pub(super) fn turns(checks: Checks, turn: &CheckedTurn<'_>) -> Checks {
    let most = turn.thresholds.max_turns;
    checks
        .limit(Class::Exhausted, "turns")
        .of("turns of this run")
        .reaches(turn.run.turn, most)
        .message(format!("the run has had its {most} turns"))
}

/// Returns the status that the agent states in a block or a tag, in one word.
fn stated(evidence: &TurnEvidence) -> &'static str {
    match evidence.status.as_ref().map(|status| status.state) {
        None => "none",
        Some(StatedState::Done) => "done",
        Some(StatedState::NotDone) => "not_done",
        Some(StatedState::Blocked) => "blocked",
    }
}

fn source(evidence: &TurnEvidence) -> &str {
    let status = evidence.status.as_ref();
    status.map_or("", |status| status.source.as_str())
}

/// `None` without a checklist. The share of an empty one cannot be compared with anything.
fn completed_share(evidence: &TurnEvidence) -> Option<Value> {
    evidence.checklist.as_ref().map(|checklist| Value::Share {
        part: checklist.completed,
        of: checklist.total(),
    })
}
