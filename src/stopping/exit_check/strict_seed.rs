//! The seven rules of the original script, as its documentation words them. Their faults are part
//! of them: neutral text has a confidence of 50 and stops the loop, and completion of 80 % hides
//! the rule for all tasks. [`super::rules`] corrects them.
//!
//! Two things differ from the script, so that its documented rules hold: words are whole words
//! ("measured" is not "sure"), and stagnation compares the number of completed tasks with the one
//! before, not with a percentage. A cap of turns comes last, because every loop has one.

use crate::stopping::evaluation::{Checks, Class, Evaluation, Value};

use super::evidence::{SeedTasks, TurnEvidence};
use super::rules::{self, CheckedTurn};

pub fn evaluate(turn: &CheckedTurn<'_>) -> Evaluation {
    let (thresholds, run, evidence) = (turn.thresholds, turn.run, turn.evidence);
    let completion = completion(evidence);
    let confidence = confidence(evidence);
    let errors = errors(evidence);
    let (least, most) = (thresholds.min_completion, thresholds.max_errors);
    let sure = thresholds.min_confidence;
    let unchanged = run.seed.unchanged;
    let tasks = evidence.seed_tasks;
    let total = tasks.map_or(0, SeedTasks::total);
    let share = tasks.map(|tasks| Value::Share {
        part: tasks.completed,
        of: total,
    });
    let checks = rules::circuit_open(Checks::default(), turn)
        .success(Class::Done, "high_completion")
        .of("completed tasks")
        .at_least(Value::percent(completion), Value::percent(least))
        .message(format!(
            "task completion {completion}% >= threshold {least}%"
        ))
        .limit(Class::NeedsHuman, "low_confidence")
        .of("confidence of the language")
        .at_least(Value::percent(confidence), Value::percent(sure))
        .message(format!("AI confidence {confidence}% < threshold {sure}%"))
        .limit(Class::Halted, "too_many_errors")
        .of("different words for errors")
        .at_most(Value::Count(errors), most)
        .message(format!("error count {errors} > threshold {most}"))
        .success(Class::Done, "all_tasks_done")
        .of("completed tasks")
        .at_least(share, Value::percent(100))
        .message(format!("all {total} tasks completed"))
        .limit(Class::Stalled, "stagnation")
        .of("decisions in a row without another completed task")
        .reaches(
            run.seed.completed.map(|_| unchanged),
            thresholds.stagnation_turns,
        )
        .message(format!("no progress for {unchanged} consecutive loops"));
    rules::turns(checks, turn).evaluation()
}

/// 90 or 60 for an explicit word, added to 50 less 10 for each hedge and plus 10 for each
/// assurance, at most 100.
pub(super) fn confidence(evidence: &TurnEvidence) -> u64 {
    let words = evidence.seed_words.unwrap_or_default();
    let explicit = if words.certain {
        90
    } else if words.likely {
        60
    } else {
        0
    };
    let assured = explicit + 50 + 10 * u64::from(words.assurances);
    assured
        .saturating_sub(10 * u64::from(words.hedges))
        .min(100)
}

/// In percent; 50 without a plan, 0 for a plan without tasks.
pub(super) fn completion(evidence: &TurnEvidence) -> u64 {
    let Some(tasks) = evidence.seed_tasks else {
        return 50;
    };
    let percent = tasks.completed.saturating_mul(100);
    percent.checked_div(tasks.total()).unwrap_or(0)
}

pub(super) fn errors(evidence: &TurnEvidence) -> u64 {
    u64::from(evidence.seed_words.unwrap_or_default().error_words)
}
