//! Calls under way: the errands of one step of a round, each for one answer.
//!
//! A call goes out when its provider's lane has room for it; until then its errand waits in the order in which it came.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{ProviderId, SeatId};

use super::answer::AnswerKind;
use super::errand::{Candidate, Errand, Settled};
use super::event::AbortReason;
use super::protocol::Input;
use super::turn::Turn;

/// The errands of one step of a round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Work {
    open: Vec<Errand>,
}

impl Work {
    /// Sends an agent on an errand. Invariant: `candidates` is not empty; the others stand in for the first, in order.
    pub(super) fn send(&mut self, turn: &mut Turn<'_>, agent: &SeatId, answer: AnswerKind, candidates: Vec<Candidate>) {
        let Some(mut errand) = Errand::new(turn, agent, answer, candidates) else { return };
        errand.begin(turn);
        self.open.push(errand);
    }

    pub(super) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes an input that concerns a call or its timer; anything else, or for a call that is not open, changes nothing.
    pub(super) fn handle(&mut self, turn: &mut Turn<'_>, input: Input) -> Option<Settled> {
        match input {
            Input::FirstToken { call } => {
                if let Some(errand) = self.open.iter_mut().find(|errand| errand.is_calling(call)) {
                    errand.begins_to_answer(turn.now);
                }
                None
            }
            Input::TimerFired { timer } => {
                if let Some(provider) = turn.held_until(timer) {
                    self.call_next(turn, &provider);
                    return None;
                }
                let at = self.open.iter().position(|errand| errand.is_waiting_for(timer))?;
                let settled = self.open.get_mut(at)?.waited(turn)?;
                self.open.remove(at);
                Some(settled)
            }
            Input::Replied { call, outcome } => {
                let at = self.open.iter().position(|errand| errand.is_calling(call))?;
                let mut errand = self.open.remove(at);
                let provider = errand.provider().clone();
                let settled = errand.replied(turn, outcome);
                if settled.is_none() {
                    // Behind those whose turn has not come: one seat must not be refused three times while others wait for their first.
                    self.open.push(errand);
                }
                self.call_next(turn, &provider);
                settled
            }
            _ => None,
        }
    }

    /// Drops everything that is under way.
    pub(super) fn cancel(self, turn: &mut Turn<'_>, reason: AbortReason) {
        self.open.into_iter().for_each(|errand| errand.cancel(turn, reason));
    }

    /// Lets those who wait for a provider have the room that there is now.
    fn call_next(&mut self, turn: &mut Turn<'_>, provider: &ProviderId) {
        self.open.iter_mut().for_each(|errand| errand.go_on_at(turn, provider));
    }
}
