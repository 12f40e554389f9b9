//! Shared by rounds after others: the judge's task, its failure, which ends the consultation, and
//! the answers of earlier rounds.

use crate::consultation::event::{AbortReason, AgentError, StateName};
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::options::PriorAnswers;
use crate::consultation::tasks::{TaskOutcome, TaskSet};
use crate::domain::answer::artifact::{Content, CrossExam, Independent};
use crate::domain::ids::AgentId;

pub(crate) fn judged(tasks: &mut TaskSet) -> Option<TaskOutcome> {
    tasks
        .take_outcomes()
        .into_iter()
        .rfind(|outcome| outcome.agent == AgentId::Judge)
}

/// Ends the consultation because no judge answered, unless the user's settings have already made
/// that the reason to end.
pub(crate) fn judge_failed(
    step: &mut StepContext<'_>,
    round: u8,
    during: StateName,
    error: &AgentError,
) {
    let message = format!(
        "The judge failed in Round {round} ({during}): {}",
        error.message
    );
    step.stop(AbortReason::JudgeFailed, message);
}

pub(crate) fn answers(emitter: &mut Emitter<'_>, prior_answers: &PriorAnswers) -> Vec<Independent> {
    for answer in &prior_answers.independents {
        emitter.emit_artifact(Content::Independent(answer.clone()), false);
    }
    prior_answers.independents.clone()
}

/// Empty if there was none, so that the verdict uses Rounds 1 and 2.
pub(crate) fn cross_examination(
    emitter: &mut Emitter<'_>,
    prior_answers: &PriorAnswers,
) -> CrossExam {
    let Some(record) = &prior_answers.cross_exam else {
        return CrossExam::default();
    };
    for revision in &record.positions {
        emitter.emit_artifact(Content::Revision(revision.clone()), false);
    }
    emitter.emit_artifact(Content::CrossExam(record.clone()), false);
    record.clone()
}
