//! What the judge's steps have in common: its errand goes to each judge in order, and its failure
//! ends the consultation.

use crate::domain::ids::SeatId;

use super::answer::AnswerKind;
use super::calls::Work;
use super::errand::{Brief, Settled};
use super::event::{AbortReason, AgentError};
use super::filtering::Shown;
use super::prompt::{PromptError, Prompter};
use super::state::State;
use super::turn::Turn;

/// Sends the judge, and behind it its fallbacks, for an answer.
pub(super) fn send_judge(
    turn: &mut Turn<'_>,
    work: &mut Work,
    answer: AnswerKind,
    prompt: impl Fn(&Prompter<'_>) -> Result<Shown, PromptError>,
) -> Result<(), PromptError> {
    let judge = SeatId::judge();
    let brief = Brief::render(turn, &judge, prompt)?;
    work.send(turn, &judge, answer, brief);
    Ok(())
}

/// The judge's answer, or its failure, once there is one.
pub(super) fn judged(work: &mut Work) -> Option<Settled> {
    work.take_settled()
        .into_iter()
        .rfind(|settled| settled.agent.is_judge())
}

/// Ends the consultation because no judge answered. `state` is where one could be asked again.
pub(super) fn judge_failed(
    turn: &mut Turn<'_>,
    state: State,
    answer: AnswerKind,
    error: &AgentError,
) -> State {
    if turn.is_stopping() {
        // Its failure is already the reason to end, on the user's own terms.
        return state;
    }
    let message = format!(
        "The judge failed in Round {} ({}): {}",
        answer.round(),
        state.name(),
        error.message
    );
    end(turn, state, AbortReason::JudgeFailed, message)
}

/// Ends the consultation because a prompt could not be made.
pub(super) fn prompt_failed(turn: &mut Turn<'_>, state: State, error: &PromptError) -> State {
    end(turn, state, AbortReason::Prompt, error.to_string())
}

/// Drops what others are still at and ends.
fn end(turn: &mut Turn<'_>, mut state: State, reason: AbortReason, message: String) -> State {
    if let Some(work) = state.work() {
        work.cancel(turn, reason);
    }
    turn.abort(state, reason, message)
}
