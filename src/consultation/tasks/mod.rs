//! Calls under way: the errands of one step of a round, each for one answer.
//!
//! A call goes out when its provider and the ceiling have room for it; until then its errand waits
//! in the order in which it came.

mod task;
mod attempt;
mod prompts;
mod reply;
mod hedge;
mod fallback;
mod optional;
mod second_pass;

pub(in crate::consultation) use prompts::Brief;
pub(in crate::consultation) use task::{Answer as AgentAnswer, Errand, Settled, Voice};

use serde::{Deserialize, Serialize};

use crate::domain::ids::{CallId, SeatId};

use super::event::{AbortReason, StillWaiting};
use super::machine::step::Turn;
use super::protocol::answer::AnswerKind;
use super::protocol::{Answer, Input, TimerId};

/// The errands of one step of a round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Work {
    open: Vec<Errand>,
    /// Those that have come to their end and were not looked at yet. Invariant: empty between
    /// turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    settled: Vec<Settled>,
}

impl Work {
    /// Sends an agent on an errand.
    pub(super) fn send(
        &mut self,
        turn: &mut Turn<'_>,
        agent: &SeatId,
        answer: AnswerKind,
        brief: Brief,
    ) {
        let Some(mut errand) = Errand::new(turn, agent, answer, brief) else {
            return;
        };
        match errand.begin(turn) {
            None => self.open.push(errand),
            Some(settled) => self.settled.push(settled),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether an agent is at work.
    pub(super) fn is_open(&self, agent: &SeatId) -> bool {
        self.open.iter().any(|errand| errand.agent() == agent)
    }

    /// The errands for one kind of answer that have come to their end.
    pub(super) fn take_settled_for(&mut self, answer: AnswerKind) -> Vec<Settled> {
        let (taken, left) = std::mem::take(&mut self.settled)
            .into_iter()
            .partition(|settled| settled.answer == answer);
        self.settled = left;
        taken
    }

    /// Waits for nobody any longer. Whoever is still at work has failed.
    pub(super) fn lose_patience(&mut self, turn: &mut Turn<'_>, why: &str) {
        for mut errand in std::mem::take(&mut self.open) {
            errand.lose_patience(turn, why);
        }
    }

    /// The errands that have come to their end since this was last asked.
    pub(super) fn take_settled(&mut self) -> Vec<Settled> {
        std::mem::take(&mut self.settled)
    }

    /// Who is at work.
    pub(super) fn still_waiting(&self, turn: &Turn<'_>) -> Vec<StillWaiting> {
        self.open
            .iter()
            .map(|errand| errand.still_waiting(turn))
            .collect()
    }

    /// Takes an input that concerns a call or a timer; anything else, or for a call that is not
    /// open, changes nothing.
    pub(super) fn handle(&mut self, turn: &mut Turn<'_>, input: Input) {
        match input {
            Input::FirstToken { call } => {
                if let Some(errand) = self.open.iter_mut().find(|errand| errand.is_calling(call)) {
                    errand.begins_to_answer(call, turn.now);
                }
            }
            Input::TimerFired { timer } => self.fired(turn, timer),
            Input::Replied { call, outcome } => {
                let Some(at) = self.open.iter().position(|errand| errand.is_calling(call)) else {
                    return;
                };
                let mut errand = self.open.remove(at);
                let settled = errand.replied(turn, call, outcome);
                // Behind those whose turn has not come: one seat must not be refused three times
                // while others wait for their first.
                self.put_back(errand, settled);
                self.advance(turn);
            }
            Input::Start
            | Input::StartedBefore { .. }
            | Input::Answered(_)
            | Input::HealthCheckStarted { .. }
            | Input::HealthChanged(_)
            | Input::Interrupted
            | Input::Resume { .. } => {}
        }
    }

    /// A question about an agent was answered.
    pub(super) fn answered(&mut self, turn: &mut Turn<'_>, agent: &SeatId, answer: Answer) {
        let Some(at) = self.open.iter().position(|errand| errand.agent() == agent) else {
            return;
        };
        let mut errand = self.open.remove(at);
        let settled = errand.answered(turn, answer);
        self.put_back(errand, settled);
        self.advance(turn);
    }

    /// Drops every call that is under way. What is wanted is still wanted.
    pub(super) fn cancel(&mut self, turn: &mut Turn<'_>, reason: AbortReason) {
        self.open
            .iter_mut()
            .for_each(|errand| errand.cancel(turn, reason));
    }

    /// Goes on with all that is wanted.
    pub(super) fn resume(&mut self, turn: &mut Turn<'_>, lost: &[CallId]) {
        self.each(turn, |errand, turn| errand.resume(turn, lost));
    }

    fn fired(&mut self, turn: &mut Turn<'_>, timer: TimerId) {
        if let Some(at) = self
            .open
            .iter()
            .position(|errand| errand.is_out_of_time_at(timer))
        {
            let settled = self.open.remove(at).run_out_of_time(turn);
            self.settled.push(settled);
        }
        if let Some(errand) = self
            .open
            .iter_mut()
            .find(|errand| errand.would_hedge_at(timer))
        {
            // Invariant: the timer of a call that has begun to answer does nothing at all. A log
            // does not tell of first signs, so that nothing may come of one but what it prevents.
            if !errand.is_slow() {
                return;
            }
            errand.hedge(turn);
        }
        self.advance(turn);
    }

    /// Lets those who wait have the room that there is now.
    fn advance(&mut self, turn: &mut Turn<'_>) {
        self.each(turn, Errand::go);
    }

    fn each(
        &mut self,
        turn: &mut Turn<'_>,
        mut act: impl FnMut(&mut Errand, &mut Turn<'_>) -> Option<Settled>,
    ) {
        for mut errand in std::mem::take(&mut self.open) {
            let settled = act(&mut errand, turn);
            self.put_back(errand, settled);
        }
    }

    fn put_back(&mut self, errand: Errand, settled: Option<Settled>) {
        match settled {
            None => self.open.push(errand),
            Some(settled) => self.settled.push(settled),
        }
    }
}
