//! The corrected rules, in order of priority: the first that fires decides.
//!
//! They keep the order and the thresholds of the original script, and correct what its users and
//! those of similar loops reported:
//!
//! - The success of all tasks comes before an open circuit: finished work is done, whatever else
//!   went wrong (`super::rules::successes`).
//! - Completion needs an explicit signal, or a claim that the next turn repeats. An explicit "not
//!   done" beats every success.
//! - Progress is what changed, never what is claimed. Questions to the person have a counter of
//!   their own.
//! - Confidence counts only as a number, and only twice in a row.
//! - The same error in three turns stops the loop, not only many different ones.
//! - A circuit that this very turn opens comes after the rules for stagnation and errors, which
//!   name the reason better.

use crate::domain::time::Timestamp;
use crate::stopping::evaluation::{Checks, Evaluation};

use super::evidence::TurnEvidence;
use super::run_state::RunState;
use super::thresholds::ExitThresholds;

pub(super) mod limits;
mod successes;
mod guards;

/// Evaluates the rules after the turn was added to the run.
pub fn evaluate(
    thresholds: &ExitThresholds,
    run: &RunState,
    evidence: &TurnEvidence,
    now: Timestamp,
) -> Evaluation {
    Checks::in_stated_order()
        .with(limits::obstacle(evidence))
        .with(successes::all_tasks_done(evidence))
        .with(limits::circuit_open(run, now))
        .with(successes::completion(thresholds, evidence))
        .with(successes::confirmed_completion(thresholds, run))
        .with(successes::explicit_done(evidence))
        .guard(guards::done_signal(evidence))
        .guard(guards::enough_completed(thresholds, evidence))
        .guard(guards::not_contradicted(evidence))
        .guard(guards::tests(evidence))
        .guard(guards::open_blockers(evidence))
        .with(limits::blocked(evidence))
        .with(limits::questions(thresholds, run))
        .with(limits::low_confidence(thresholds, run, evidence))
        .with(limits::distinct_errors(thresholds, run))
        .with(limits::same_error(thresholds, run))
        .with(limits::failed_turns(thresholds, run))
        .with(limits::stagnation(thresholds, run))
        .with(limits::circuit_opened(run, now))
        .with(limits::turns(thresholds, run))
        .evaluation()
}
