//! Round 1: every expert answers alone, all at once. Where the personas are to be chosen for the
//! question, that comes first.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Casting, Content, Independent};
use crate::domain::ids::SeatId;
use crate::domain::time::Timestamp;

use super::judge::prompt_failed;
use super::persona_selection;
use super::prior_answers;
use super::synthesis;
use super::synthesis::Answers;
use crate::consultation::event::{AbortReason, AgentError, Event, StateName};
use crate::consultation::machine::step::Turn;
use crate::consultation::policy::quorum::{Quorum, quorum};
use crate::consultation::prompt::filter::Shown;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::state::State;
use crate::consultation::tasks::Work;
use crate::consultation::tasks::{AgentAnswer as Answer, Brief, Voice};

pub(in crate::consultation) const ROUND: u8 = 1;

/// How far the round is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    /// The clerk chooses the personas.
    Casting,
    /// They are chosen, and nobody has been asked yet: that takes a turn with the new panel.
    Cast,
    #[default]
    Answering,
}

/// Who has answered so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct IndependentRound {
    since: Timestamp,
    #[serde(default)]
    step: Step,
    pub(in crate::consultation) work: Work,
    answered: Vec<Independent>,
    voices: Vec<Voice>,
    /// Answers that could only be read as prose.
    degraded: usize,
    failed: Vec<(SeatId, AgentError)>,
}

pub(in crate::consultation) fn enter(turn: &mut Turn<'_>) -> State {
    turn.change(StateName::AwaitingConsent, StateName::Independent);
    turn.begin_round(ROUND);
    let given = turn.plan.course.given.as_deref();
    let round = IndependentRound {
        since: turn.now,
        step: Step::default(),
        work: Work::default(),
        answered: given
            .map(|given| prior_answers::answers(turn, given))
            .unwrap_or_default(),
        voices: Vec::new(),
        degraded: 0,
        failed: Vec::new(),
    };
    match given {
        Some(_) => round.proceed(turn),
        None if turn.plan.course.asks_for(AnswerKind::Casting) => round.choose(turn),
        None => round.send_all(turn),
    }
}

impl IndependentRound {
    /// Asks the clerk who should sit.
    fn choose(mut self, turn: &mut Turn<'_>) -> State {
        self.step = Step::Casting;
        let (clerk, plan) = (SeatId::clerk(), turn.plan);
        let brief = Brief::render(turn, &clerk, |prompter| {
            prompter
                .casting(&plan.course.cast_from, plan.panel.seats.len())
                .map(Shown::whole)
        });
        match brief {
            Ok(brief) => {
                self.work.send(turn, &clerk, AnswerKind::Casting, brief);
                self.proceed(turn)
            }
            Err(error) => self.cast(turn, Err(error.to_string())),
        }
    }

    /// The clerk has answered, or will not.
    fn chosen(mut self, turn: &mut Turn<'_>) -> State {
        if !self.work.is_done() {
            return State::Independent(self);
        }
        let answer = match self.work.take_settled().pop().map(|settled| settled.result) {
            Some(Ok(Answer {
                content: Content::Casting(casting),
                ..
            })) => Ok(casting),
            Some(Ok(_)) => Err("the clerk gave another answer than it was asked for".to_owned()),
            Some(Err(error)) => Err(format!("the clerk gave no answer: {}", error.message)),
            None => Err("there is no model that could choose".to_owned()),
        };
        self.cast(turn, answer)
    }

    fn cast(mut self, turn: &mut Turn<'_>, answer: Result<Casting, String>) -> State {
        self.step = Step::Cast;
        let cast = persona_selection::cast(turn.plan, answer);
        turn.recast(cast.panel.clone());
        turn.emit(Event::PanelCast(Box::new(cast)));
        State::Independent(self)
    }

    fn send_all(mut self, turn: &mut Turn<'_>) -> State {
        self.step = Step::Answering;
        let seats: Vec<SeatId> = turn
            .plan
            .panel
            .seats
            .iter()
            .map(|seat| seat.id.clone())
            .collect();
        self.send(turn, &seats)
    }

    fn send(mut self, turn: &mut Turn<'_>, agents: &[SeatId]) -> State {
        for seat in turn
            .plan
            .panel
            .seats
            .iter()
            .filter(|seat| agents.contains(&seat.id))
        {
            match Brief::render(turn, &seat.id, |prompter| {
                prompter.independent(seat).map(Shown::whole)
            }) {
                Ok(brief) => self
                    .work
                    .send(turn, &seat.id, AnswerKind::Independent, brief),
                Err(error) => {
                    self.work.cancel(turn, AbortReason::Prompt);
                    return prompt_failed(turn, State::Independent(self), &error);
                }
            }
        }
        self.proceed(turn)
    }

    /// Looks at what has been settled.
    pub(in crate::consultation) fn proceed(self, turn: &mut Turn<'_>) -> State {
        match self.step {
            Step::Casting => self.chosen(turn),
            Step::Cast => State::Independent(self),
            Step::Answering => self.answered(turn),
        }
    }

    /// Experts have answered, or failed. Ends the round when all have.
    fn answered(mut self, turn: &mut Turn<'_>) -> State {
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
        if self.work.is_done() && !turn.is_stopping() {
            self.end(turn)
        } else {
            State::Independent(self)
        }
    }

    /// Goes on with a new panel, or after an end that was none: those who all failed are asked
    /// again.
    pub(in crate::consultation) fn again(self, turn: &mut Turn<'_>) -> State {
        match self.step {
            Step::Casting => self.chosen(turn),
            Step::Cast => self.send_all(turn),
            Step::Answering => self.answer_again(turn),
        }
    }

    fn answer_again(mut self, turn: &mut Turn<'_>) -> State {
        if !self.work.is_done() || quorum(self.answered.len()) == Quorum::Met {
            return self.proceed(turn);
        }
        let failed: Vec<SeatId> = std::mem::take(&mut self.failed)
            .into_iter()
            .map(|(agent, _)| agent)
            .collect();
        self.send(turn, &failed)
    }

    fn end(mut self, turn: &mut Turn<'_>) -> State {
        match quorum(self.answered.len()) {
            Quorum::Met => {
                let seats = &turn.plan.panel.seats;
                self.answered.sort_by_key(|independent| {
                    seats
                        .iter()
                        .position(|seat| seat.id == independent.agent_id)
                });
                turn.end_round(ROUND, self.since);
                if turn.plan.course.rounds.number() <= ROUND {
                    return turn.complete(StateName::Independent, ROUND);
                }
                let troubled = self.failed.len() + self.degraded;
                synthesis::enter(
                    turn,
                    Answers {
                        independents: self.answered,
                        voices: self.voices,
                        troubled,
                    },
                )
            }
            Quorum::Nobody => {
                let seats = &turn.plan.panel.seats;
                self.failed
                    .sort_by_key(|(agent, _)| seats.iter().position(|seat| seat.id == *agent));
                let reasons = self
                    .failed
                    .iter()
                    .map(|(agent, error)| format!("{}: {}", who(turn, agent), error.message));
                let reasons: Vec<String> = reasons.collect();
                let message = format!(
                    "All agents failed. Unable to provide consultation.\n{}",
                    reasons.join("\n")
                );
                turn.abort(
                    State::Independent(self),
                    AbortReason::AllAgentsFailed,
                    message,
                )
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
