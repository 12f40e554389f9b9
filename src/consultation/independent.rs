//! Round 1: every expert answers alone, all at once.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Content, Independent};
use crate::domain::time::Timestamp;

use super::answer::AnswerKind;
use super::calls::Work;
use super::errand::Candidate;
use super::event::{AbortReason, AgentError, StateName};
use super::policy::quorum::{Quorum, quorum};
use super::protocol::Input;
use super::state::State;
use super::synthesis;
use super::turn::Turn;

const ROUND: u8 = 1;

/// Who has answered so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct IndependentRound {
    since: Timestamp,
    pub(super) work: Work,
    answered: Vec<Independent>,
    failed: Vec<(String, AgentError)>,
}

pub(super) fn enter(turn: &mut Turn<'_>) -> State {
    turn.change(StateName::AwaitingConsent, StateName::Independent);
    turn.begin_round(ROUND);
    let mut work = Work::default();
    let labels = turn.plan.labels();
    for seat in &turn.plan.panel.seats {
        match turn.plan.prompter(&labels, &seat.model).independent(seat) {
            Ok(prompt) => work.send(turn, &seat.id, AnswerKind::Independent, vec![Candidate { model: seat.model.clone(), prompt }]),
            Err(error) => {
                work.cancel(turn, AbortReason::Prompt);
                return turn.abort(StateName::Independent, AbortReason::Prompt, error.to_string());
            }
        }
    }
    State::Independent(IndependentRound { since: turn.now, work, answered: Vec::new(), failed: Vec::new() })
}

impl IndependentRound {
    pub(super) fn handle(mut self, turn: &mut Turn<'_>, input: Input) -> State {
        if let Some(settled) = self.work.handle(turn, input) {
            match settled.result {
                Ok(answer) => {
                    if let Content::Independent(independent) = &answer.content {
                        self.answered.push(independent.clone());
                    }
                    turn.keep(answer.content, answer.degraded);
                }
                Err(error) => self.failed.push((turn.plan.agent_name(&settled.agent), error)),
            }
            if self.work.is_done() {
                return self.end(turn);
            }
        }
        State::Independent(self)
    }

    fn end(mut self, turn: &mut Turn<'_>) -> State {
        match quorum(self.answered.len()) {
            Quorum::Met => {
                let seats = &turn.plan.panel.seats;
                self.answered.sort_by_key(|independent| seats.iter().position(|seat| seat.id == independent.agent_id));
                turn.end_round(ROUND, self.since);
                synthesis::enter(turn, self.answered)
            }
            Quorum::Nobody => {
                let reasons: Vec<String> = self.failed.iter().map(|(name, error)| format!("{name}: {}", error.message)).collect();
                let message = format!("All agents failed. Unable to provide consultation.\n{}", reasons.join("\n"));
                turn.abort(StateName::Independent, AbortReason::AllAgentsFailed, message)
            }
        }
    }
}
