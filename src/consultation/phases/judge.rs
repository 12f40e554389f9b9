//! What the judge's steps have in common: its errand goes to each judge in order, and its failure
//! ends the consultation.

use crate::domain::ids::SeatId;

use crate::consultation::event::{AbortReason, AgentError};
use crate::consultation::machine::step::Turn;
use crate::consultation::prompt::filter::Shown;
use crate::consultation::prompt::{PromptError, Prompter};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::state::State;
use crate::consultation::tasks::Work;
use crate::consultation::tasks::{Brief, Settled};

/// Sends the judge, and behind it its fallbacks, for an answer.
pub(in crate::consultation) fn send_judge(
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
pub(in crate::consultation) fn judged(work: &mut Work) -> Option<Settled> {
    work.take_settled()
        .into_iter()
        .rfind(|settled| settled.agent.is_judge())
}

/// Ends the consultation because no judge answered. `state` is where one could be asked again.
pub(in crate::consultation) fn judge_failed(
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
pub(in crate::consultation) fn prompt_failed(
    turn: &mut Turn<'_>,
    state: State,
    error: &PromptError,
) -> State {
    end(turn, state, AbortReason::Prompt, error.to_string())
}

/// Drops what others are still at and ends.
fn end(turn: &mut Turn<'_>, mut state: State, reason: AbortReason, message: String) -> State {
    if let Some(work) = state.work() {
        work.cancel(turn, reason);
    }
    turn.abort(state, reason, message)
}
