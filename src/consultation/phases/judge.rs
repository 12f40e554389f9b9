//! What the judge's steps have in common: its errand goes to each judge in order, and its failure
//! ends the consultation.

use crate::domain::ids::AgentId;

use crate::consultation::event::{AbortReason, AgentError};
use crate::consultation::machine::step::StepContext;
use crate::consultation::prompt::filter::Shown;
use crate::consultation::prompt::{PromptError, Prompter};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::state::State;
use crate::consultation::tasks::TaskSet;
use crate::consultation::tasks::{PromptSet, TaskOutcome};

/// Sends the judge, and behind it its fallbacks, for an answer.
pub(in crate::consultation) fn send_judge(
    step: &mut StepContext<'_>,
    work: &mut TaskSet,
    answer: AnswerKind,
    prompt: impl Fn(&Prompter<'_>) -> Result<Shown, PromptError>,
) -> Result<(), PromptError> {
    let judge = AgentId::Judge;
    let prompts = PromptSet::render(step, &judge, prompt)?;
    work.send(step, &judge, answer, prompts);
    Ok(())
}

/// The judge's answer, or its failure, once there is one.
pub(in crate::consultation) fn judged(work: &mut TaskSet) -> Option<TaskOutcome> {
    work.take_settled()
        .into_iter()
        .rfind(|outcome| outcome.agent == AgentId::Judge)
}

/// Ends the consultation because no judge answered. `state` is where one could be asked again.
pub(in crate::consultation) fn judge_failed(
    step: &mut StepContext<'_>,
    state: State,
    answer: AnswerKind,
    error: &AgentError,
) -> State {
    if step.is_stopping() {
        // Its failure is already the reason to end, on the user's own terms.
        return state;
    }
    let message = format!(
        "The judge failed in Round {} ({}): {}",
        answer.round(),
        state.name(),
        error.message
    );
    end(step, state, AbortReason::JudgeFailed, message)
}

/// Ends the consultation because a prompt could not be made.
pub(in crate::consultation) fn prompt_failed(
    step: &mut StepContext<'_>,
    state: State,
    error: &PromptError,
) -> State {
    end(step, state, AbortReason::Prompt, error.to_string())
}

/// Drops what others are still at and ends.
fn end(
    step: &mut StepContext<'_>,
    mut state: State,
    reason: AbortReason,
    message: String,
) -> State {
    if let Some(work) = state.work() {
        work.cancel(step, reason);
    }
    step.abort(state, reason, message)
}
