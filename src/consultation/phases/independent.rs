//! Round 1: every expert answers alone, all at once. Where the personas are to be chosen for the
//! question, that comes first.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Content, Independent, PersonaSelection};
use crate::domain::ids::AgentId;
use crate::domain::time::Timestamp;

use super::judge::prompt_failed;
use super::persona_selection;
use super::prior_answers;
use super::synthesis;
use super::synthesis::Answers;
use crate::consultation::event::{AbortReason, AgentError, Event, PanelEvent, StateName};
use crate::consultation::machine::step::StepContext;
use crate::consultation::policy::quorum::{Quorum, quorum};
use crate::consultation::prompt::filter::Shown;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::state::State;
use crate::consultation::tasks::TaskSet;
use crate::consultation::tasks::{AgentAnswer, AnswerSource, PromptSet};

pub(in crate::consultation) const ROUND: u8 = 1;

/// How far the round is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    /// The clerk chooses the personas.
    PersonaSelection,
    /// They are chosen, and nobody has been asked yet: that takes a turn with the new panel.
    PanelSelection,
    #[default]
    Answering,
}

/// Who has answered so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct IndependentRound {
    since: Timestamp,
    #[serde(default)]
    step: Step,
    pub(in crate::consultation) work: TaskSet,
    answered: Vec<Independent>,
    voices: Vec<AnswerSource>,
    /// Answers that could only be read as prose.
    degraded: usize,
    failed: Vec<(AgentId, AgentError)>,
}

pub(in crate::consultation) fn enter(step: &mut StepContext<'_>) -> State {
    step.change(StateName::AwaitingConsent, StateName::Independent);
    step.begin_round(ROUND);
    let prior_answers = step.plan.debate.prior_answers.as_deref();
    let round = IndependentRound {
        since: step.now,
        step: Step::default(),
        work: TaskSet::default(),
        answered: prior_answers
            .map(|prior_answers| prior_answers::answers(step, prior_answers))
            .unwrap_or_default(),
        voices: Vec::new(),
        degraded: 0,
        failed: Vec::new(),
    };
    match prior_answers {
        Some(_) => round.proceed(step),
        None if step.plan.debate.asks_for(AnswerKind::PersonaSelection) => round.choose(step),
        None => round.send_all(step),
    }
}

impl IndependentRound {
    /// Asks the clerk who should sit.
    fn choose(mut self, step: &mut StepContext<'_>) -> State {
        self.step = Step::PersonaSelection;
        let (helper, plan) = (AgentId::Helper, step.plan);
        let prompts = PromptSet::render(step, &helper, |prompter| {
            prompter
                .casting(&plan.debate.selectable_personas, plan.panel.seats.len())
                .map(Shown::whole)
        });
        match prompts {
            Ok(prompts) => {
                self.work
                    .send(step, &helper, AnswerKind::PersonaSelection, prompts);
                self.proceed(step)
            }
            Err(error) => self.cast(step, Err(error.to_string())),
        }
    }

    /// The clerk has answered, or will not.
    fn chosen(mut self, step: &mut StepContext<'_>) -> State {
        if !self.work.is_done() {
            return State::Independent(self);
        }
        let answer = match self.work.take_settled().pop().map(|outcome| outcome.result) {
            Some(Ok(AgentAnswer {
                content: Content::PersonaSelection(casting),
                ..
            })) => Ok(casting),
            Some(Ok(_)) => Err("the clerk gave another answer than it was asked for".to_owned()),
            Some(Err(error)) => Err(format!("the clerk gave no answer: {}", error.message)),
            None => Err("there is no model that could choose".to_owned()),
        };
        self.cast(step, answer)
    }

    fn cast(
        mut self,
        step: &mut StepContext<'_>,
        answer: Result<PersonaSelection, String>,
    ) -> State {
        self.step = Step::PanelSelection;
        let cast = persona_selection::cast(step.plan, answer);
        step.recast(cast.panel.clone());
        step.emit(Event::Panel(PanelEvent::PersonasSelected(Box::new(cast))));
        State::Independent(self)
    }

    fn send_all(mut self, step: &mut StepContext<'_>) -> State {
        self.step = Step::Answering;
        let agents: Vec<AgentId> = step
            .plan
            .panel
            .seats
            .iter()
            .map(|seat| AgentId::from(&seat.id))
            .collect();
        self.send(step, &agents)
    }

    fn send(mut self, step: &mut StepContext<'_>, agents: &[AgentId]) -> State {
        for seat in &step.plan.panel.seats {
            let agent = AgentId::from(&seat.id);
            if !agents.contains(&agent) {
                continue;
            }
            match PromptSet::render(step, &agent, |prompter| {
                prompter.independent(seat).map(Shown::whole)
            }) {
                Ok(prompts) => self
                    .work
                    .send(step, &agent, AnswerKind::Independent, prompts),
                Err(error) => {
                    self.work.cancel(step, AbortReason::Prompt);
                    return prompt_failed(step, State::Independent(self), &error);
                }
            }
        }
        self.proceed(step)
    }

    /// Looks at what has been settled.
    pub(in crate::consultation) fn proceed(self, step: &mut StepContext<'_>) -> State {
        match self.step {
            Step::PersonaSelection => self.chosen(step),
            Step::PanelSelection => State::Independent(self),
            Step::Answering => self.answered(step),
        }
    }

    /// Experts have answered, or failed. Ends the round when all have.
    fn answered(mut self, step: &mut StepContext<'_>) -> State {
        for outcome in self.work.take_settled() {
            match outcome.result {
                Ok(answer) => {
                    if let Content::Independent(independent) = &answer.content {
                        self.answered.push(independent.clone());
                        self.voices.push(answer.source);
                        self.degraded += usize::from(answer.degraded);
                    }
                    step.keep(answer.content, answer.degraded);
                }
                Err(error) => self.failed.push((outcome.agent, error)),
            }
        }
        // What ends the consultation ends it here: the next round begins when it is gone on with.
        if self.work.is_done() && !step.is_stopping() {
            self.end(step)
        } else {
            State::Independent(self)
        }
    }

    /// Goes on with a new panel, or after an end that was none: those who all failed are asked
    /// again.
    pub(in crate::consultation) fn again(self, step: &mut StepContext<'_>) -> State {
        match self.step {
            Step::PersonaSelection => self.chosen(step),
            Step::PanelSelection => self.send_all(step),
            Step::Answering => self.answer_again(step),
        }
    }

    fn answer_again(mut self, step: &mut StepContext<'_>) -> State {
        if !self.work.is_done() || quorum(self.answered.len()) == Quorum::Met {
            return self.proceed(step);
        }
        let failed: Vec<AgentId> = std::mem::take(&mut self.failed)
            .into_iter()
            .map(|(agent, _)| agent)
            .collect();
        self.send(step, &failed)
    }

    fn end(mut self, step: &mut StepContext<'_>) -> State {
        match quorum(self.answered.len()) {
            Quorum::Met => {
                let seats = &step.plan.panel.seats;
                self.answered.sort_by_key(|independent| {
                    seats
                        .iter()
                        .position(|seat| seat.id == independent.agent_id)
                });
                step.end_round(ROUND, self.since);
                if step.plan.debate.rounds.number() <= ROUND {
                    return step.complete(StateName::Independent, ROUND);
                }
                let troubled = self.failed.len() + self.degraded;
                synthesis::enter(
                    step,
                    Answers {
                        independents: self.answered,
                        voices: self.voices,
                        troubled,
                    },
                )
            }
            Quorum::Nobody => {
                let seats = &step.plan.panel.seats;
                self.failed
                    .sort_by_key(|(agent, _)| seats.iter().position(|seat| seat.id == *agent));
                let reasons = self
                    .failed
                    .iter()
                    .map(|(agent, error)| format!("{}: {}", who(step, agent), error.message));
                let reasons: Vec<String> = reasons.collect();
                let message = format!(
                    "All agents failed. Unable to provide consultation.\n{}",
                    reasons.join("\n")
                );
                step.abort(
                    State::Independent(self),
                    AbortReason::AllAgentsFailed,
                    message,
                )
            }
        }
    }
}

/// An agent's name, with its model where that is not the one that the panel names.
fn who(step: &StepContext<'_>, agent: &AgentId) -> String {
    let name = step.plan.agent_name(agent);
    match step.run.fallbacks_in_use.get(agent) {
        Some(model) => format!("{name} ({model})"),
        None => name,
    }
}
