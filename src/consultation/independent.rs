//! Round 1: every expert answers alone, all at once.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Content, Independent};
use crate::domain::ids::SeatId;
use crate::domain::time::Timestamp;

use super::answer::AnswerKind;
use super::calls::Work;
use super::errand::{Brief, Voice};
use super::event::{AbortReason, AgentError, StateName};
use super::filtering::Shown;
use super::given;
use super::judging::prompt_failed;
use super::policy::quorum::{Quorum, quorum};
use super::state::State;
use super::synthesis::{self, Answers};
use super::turn::Turn;

pub(super) const ROUND: u8 = 1;

/// Who has answered so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct IndependentRound {
    since: Timestamp,
    pub(super) work: Work,
    answered: Vec<Independent>,
    voices: Vec<Voice>,
    /// Answers that could only be read as prose.
    degraded: usize,
    failed: Vec<(SeatId, AgentError)>,
}

pub(super) fn enter(turn: &mut Turn<'_>) -> State {
    turn.change(StateName::AwaitingConsent, StateName::Independent);
    turn.begin_round(ROUND);
    let seats: Vec<SeatId> = turn.plan.panel.seats.iter().map(|seat| seat.id.clone()).collect();
    let given = turn.plan.course.given.as_deref();
    let round = IndependentRound {
        since: turn.now,
        work: Work::default(),
        answered: given.map(|given| given::answers(turn, given)).unwrap_or_default(),
        voices: Vec::new(),
        degraded: 0,
        failed: Vec::new(),
    };
    if given.is_some() { round.proceed(turn) } else { round.send(turn, &seats) }
}

impl IndependentRound {
    fn send(mut self, turn: &mut Turn<'_>, agents: &[SeatId]) -> State {
        for seat in turn.plan.panel.seats.iter().filter(|seat| agents.contains(&seat.id)) {
            match Brief::render(turn, &seat.id, |prompter| prompter.independent(seat).map(Shown::whole)) {
                Ok(brief) => self.work.send(turn, &seat.id, AnswerKind::Independent, brief),
                Err(error) => {
                    self.work.cancel(turn, AbortReason::Prompt);
                    return prompt_failed(turn, State::Independent(self), &error);
                }
            }
        }
        self.proceed(turn)
    }

    /// Looks at what has been settled, and ends the round when all is.
    pub(super) fn proceed(mut self, turn: &mut Turn<'_>) -> State {
        for settled in self.work.take_settled() {
            match settled.result {
                Ok(answer) => {
                    if let Content::Independent(independent) = &answer.content {
                        self.answered.push(independent.clone());
                        self.voices.push(answer.voice);
                        self.degraded += usize::from(answer.degraded);
                    }
                    turn.keep(answer.content, answer.degraded);
                }
                Err(error) => self.failed.push((settled.agent, error)),
            }
        }
        // What ends the consultation ends it here: the next round begins when it is gone on with.
        if self.work.is_done() && !turn.is_stopping() { self.end(turn) } else { State::Independent(self) }
    }

    /// Goes on after an end that was none: those who all failed are asked again.
    pub(super) fn again(mut self, turn: &mut Turn<'_>) -> State {
        if !self.work.is_done() || quorum(self.answered.len()) == Quorum::Met {
            return self.proceed(turn);
        }
        let failed: Vec<SeatId> = std::mem::take(&mut self.failed).into_iter().map(|(agent, _)| agent).collect();
        self.send(turn, &failed)
    }

    fn end(mut self, turn: &mut Turn<'_>) -> State {
        match quorum(self.answered.len()) {
            Quorum::Met => {
                let seats = &turn.plan.panel.seats;
                self.answered.sort_by_key(|independent| seats.iter().position(|seat| seat.id == independent.agent_id));
                turn.end_round(ROUND, self.since);
                if turn.plan.course.rounds.number() <= ROUND {
                    return turn.complete(StateName::Independent, ROUND);
                }
                let troubled = self.failed.len() + self.degraded;
                synthesis::enter(turn, Answers { independents: self.answered, voices: self.voices, troubled })
            }
            Quorum::Nobody => {
                let seats = &turn.plan.panel.seats;
                self.failed.sort_by_key(|(agent, _)| seats.iter().position(|seat| seat.id == *agent));
                let reasons = self.failed.iter().map(|(agent, error)| format!("{}: {}", who(turn, agent), error.message));
                let reasons: Vec<String> = reasons.collect();
                let message = format!("All agents failed. Unable to provide consultation.\n{}", reasons.join("\n"));
                turn.abort(State::Independent(self), AbortReason::AllAgentsFailed, message)
            }
        }
    }
}

/// An agent's name, with its model where that is not the one that the panel names.
fn who(turn: &Turn<'_>, agent: &SeatId) -> String {
    let name = turn.plan.agent_name(agent);
    match turn.ledger.players.get(agent) {
        Some(model) => format!("{name} ({model})"),
        None => name,
    }
}
