//! What the judge's steps have in common: its errand goes to each judge in order, and its failure ends the consultation.

use crate::domain::ids::SeatId;

use super::answer::AnswerKind;
use super::call::Prompt;
use super::calls::Work;
use super::errand::Candidate;
use super::event::{AbortReason, AgentError, StateName};
use super::prompt::{PromptError, Prompter};
use super::state::State;
use super::turn::Turn;

/// Sends the judge, and behind it its fallbacks, for an answer.
pub(super) fn send_judge(
    turn: &mut Turn<'_>,
    answer: AnswerKind,
    prompt: impl Fn(&Prompter<'_>) -> Result<Prompt, PromptError>,
) -> Result<Work, PromptError> {
    let labels = turn.plan.labels();
    let mut candidates = Vec::new();
    for model in &turn.plan.panel.judges {
        candidates.push(Candidate { model: model.clone(), prompt: prompt(&turn.plan.prompter(&labels, model))? });
    }
    let mut work = Work::default();
    work.send(turn, &SeatId::judge(), answer, candidates);
    Ok(work)
}

/// Ends the consultation because no judge answered.
pub(super) fn judge_failed(turn: &mut Turn<'_>, during: StateName, answer: AnswerKind, error: &AgentError) -> State {
    let message = format!("The judge failed in Round {} ({during}): {}", answer.round(), error.message);
    turn.abort(during, AbortReason::JudgeFailed, message)
}

/// Ends the consultation because a prompt could not be made.
pub(super) fn prompt_failed(turn: &mut Turn<'_>, during: StateName, error: &PromptError) -> State {
    turn.abort(during, AbortReason::Prompt, error.to_string())
}
