//! Shared by rounds after others: the judge's task, its failure, which ends the consultation, and
//! the answers of earlier rounds.

use super::next::Next;
use crate::consultation::analysis::compose::HeldRounds;
use crate::consultation::event::{AbortReason, AgentError, StateName};
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::plan::options::PriorAnswers;
use crate::consultation::prompt::filter::RenderedPrompt;
use crate::consultation::prompt::{PromptError, Prompter};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::tasks::{PromptSet, TaskOutcome, TaskSet};
use crate::domain::artifact::{Content, CrossExam, Independent};
use crate::domain::ids::AgentId;

/// Starts the task for one of the judge's answers.
pub(crate) fn send_judge(
    step: &mut StepContext<'_>,
    tasks: &mut TaskSet,
    answer: AnswerKind,
    prompt: impl Fn(&Prompter<'_>) -> Result<RenderedPrompt, PromptError>,
) -> Result<(), PromptError> {
    let judge = AgentId::Judge;
    let prompts = PromptSet::render(step.plan, step.run, &judge, prompt)?;
    tasks.send(step, &judge, answer, prompts);
    Ok(())
}

/// Takes the judge's answer or failure, once it has ended.
pub(crate) fn judged(tasks: &mut TaskSet) -> Option<TaskOutcome> {
    tasks
        .take_outcomes()
        .into_iter()
        .rfind(|outcome| outcome.agent == AgentId::Judge)
}

/// Ends the consultation because no judge answered. It can be resumed at `phase`.
pub(crate) fn judge_failed<P>(
    step: &StepContext<'_>,
    phase: P,
    (answer, during): (AnswerKind, StateName),
    error: &AgentError,
) -> Next<P> {
    if step.is_stopping() {
        // The user's settings have already made its failure the reason to end.
        return Next::Stay(phase);
    }
    let message = format!(
        "The judge failed in Round {} ({during}): {}",
        answer.round(),
        error.message
    );
    Next::Abort(phase, AbortReason::JudgeFailed, message)
}

/// Ends the consultation because a prompt could not be rendered.
pub(crate) fn prompt_failed<P>(phase: P, error: &PromptError) -> Next<P> {
    Next::Abort(phase, AbortReason::Prompt, error.to_string())
}

/// Emits the answer that the mode composes from the rounds that were held, if no verdict is
/// requested.
pub(crate) fn keep_composed(plan: &Plan, emitter: &mut Emitter<'_>, material: HeldRounds<'_>) {
    let verdict = plan.debate.mode.strategy().compose(material);
    emitter.emit_artifact(Content::Verdict(verdict), false);
}

/// Returns the prior answers of Round 1.
pub(crate) fn answers(emitter: &mut Emitter<'_>, prior_answers: &PriorAnswers) -> Vec<Independent> {
    for answer in &prior_answers.independents {
        emitter.emit_artifact(Content::Independent(answer.clone()), false);
    }
    prior_answers.independents.clone()
}

/// Returns the prior cross-examination; empty if there was none, so that the verdict uses Rounds 1
/// and 2.
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
