//! Round 1: every expert answers alone, all in parallel. If the personas are selected for the
//! question, that comes first.

use crate::domain::answer::artifact::{Content, Independent, PersonaSelection};
use crate::domain::ids::{AgentId, ProviderId};
use crate::domain::model::vendors;
use crate::domain::time::Timestamp;

use super::next::{Break, Continue, Entry, ExpertAnswers, Next};
use super::{judge, persona_selection};
use crate::consultation::event::{AbortReason, AgentError, Event, PanelEvent};
use crate::consultation::machine::round;
use crate::consultation::machine::run_state::RunState;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::FailureClass;
use crate::consultation::tasks::{AgentAnswer, AnswerSource, TaskSet};

pub(crate) const ROUND: u8 = 1;

/// The stages of the round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// The helper selects the personas.
    PersonaSelection,
    /// The personas are selected; the experts are asked in the next step, with the new panel.
    Selected,
    #[default]
    Answering,
}

/// Round 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndependentRound {
    since: Timestamp,
    stage: Stage,
    pub(crate) tasks: TaskSet,
    pub(crate) answered: Vec<Independent>,
    sources: Vec<AnswerSource>,
    /// The number of answers that are no evidence.
    degraded: usize,
    failed: Vec<(AgentId, AgentError)>,
}

pub(crate) fn enter(step: &mut StepContext<'_>) -> Next<IndependentRound> {
    round::begin(step, ROUND);
    let prior_answers = step.plan.debate.prior_answers.as_deref();
    let round = IndependentRound {
        since: step.now,
        stage: Stage::default(),
        tasks: TaskSet::default(),
        answered: prior_answers
            .map(|prior_answers| judge::answers(&mut step.emitter, prior_answers))
            .unwrap_or_default(),
        sources: Vec::new(),
        degraded: 0,
        failed: Vec::new(),
    };
    match prior_answers {
        Some(_) => round.proceed(step),
        None if step.plan.debate.asks_for(AnswerKind::PersonaSelection) => {
            round.select_personas(step)
        }
        None => round.send_all(step),
    }
}

impl IndependentRound {
    fn select_personas(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        self.stage = Stage::PersonaSelection;
        let (plan, answer) = (step.plan, AnswerKind::PersonaSelection);
        let sent = self
            .tasks
            .try_send(step, &AgentId::Helper, answer, |prompter| {
                prompter.persona_selection(&plan.debate.selectable_personas, plan.panel.seats.len())
            });
        match sent {
            Ok(()) => self.proceed(step),
            Err(error) => self.reseat(step, Err(error.to_string())),
        }
    }

    fn selected(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        if !self.tasks.is_done() {
            return Continue(self);
        }
        let outcome = self.tasks.take_outcomes().pop();
        let answer = match outcome.map(|outcome| outcome.result) {
            Some(Ok(AgentAnswer {
                content: Content::PersonaSelection(selection),
                ..
            })) => Ok(selection),
            Some(Ok(_)) => {
                Err("the helper model gave another answer than it was asked for".to_owned())
            }
            Some(Err(error)) => Err(format!(
                "the helper model gave no answer: {}",
                error.message
            )),
            None => Err("no model is available to select them".to_owned()),
        };
        self.reseat(step, answer)
    }

    /// Seats the selected personas from the next step on.
    fn reseat(
        mut self,
        step: &mut StepContext<'_>,
        answer: Result<PersonaSelection, String>,
    ) -> Next<Self> {
        self.stage = Stage::Selected;
        let selection = persona_selection::select(step.plan, answer);
        step.new_panel = Some(selection.panel.clone());
        step.emit(Event::Panel(PanelEvent::PersonasSelected(Box::new(
            selection,
        ))));
        Continue(self)
    }

    fn send_all(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        self.stage = Stage::Answering;
        self.send(step, |_| true)
    }

    fn send(
        mut self,
        step: &mut StepContext<'_>,
        is_asked: impl Fn(&AgentId) -> bool,
    ) -> Next<Self> {
        for seat in &step.plan.panel.seats {
            let agent = AgentId::from(&seat.id);
            if !is_asked(&agent) {
                continue;
            }
            self.tasks
                .send(step, &agent, AnswerKind::Independent, |prompter| {
                    prompter.independent(seat)
                });
        }
        self.proceed(step)
    }

    pub(crate) fn proceed(self, step: &mut StepContext<'_>) -> Next<Self> {
        match self.stage {
            Stage::PersonaSelection => self.selected(step),
            Stage::Selected => Continue(self),
            Stage::Answering => self.answered(step),
        }
    }

    /// Ends the round when it has all of them.
    fn answered(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        for outcome in self.tasks.take_outcomes() {
            match outcome.result {
                Ok(answer) => {
                    if let Content::Independent(independent) = &answer.content {
                        self.degraded += usize::from(!answer.is_evidence());
                        self.answered.push(independent.clone());
                        self.sources.push(answer.source);
                    }
                    step.emitter.emit_artifact(answer.content, answer.degraded);
                }
                Err(error) => self.failed.push((outcome.agent, error)),
            }
        }
        // A consultation that is about to end starts no new round.
        if self.tasks.is_done() && !step.is_stopping() {
            self.end(step)
        } else {
            Continue(self)
        }
    }

    /// Continues with a new panel, or resumes: if all experts failed, they are asked again.
    pub(crate) fn resume(self, step: &mut StepContext<'_>) -> Next<Self> {
        match self.stage {
            Stage::PersonaSelection => self.selected(step),
            Stage::Selected => self.send_all(step),
            Stage::Answering => self.answer_again(step),
        }
    }

    fn answer_again(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        if !self.tasks.is_done() || !self.answered.is_empty() {
            return self.proceed(step);
        }
        let failed = std::mem::take(&mut self.failed);
        self.send(step, |agent| {
            failed.iter().any(|(failed, _)| failed == agent)
        })
    }

    fn end(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        if self.answered.is_empty() {
            self.none_answered(step);
            return Continue(self);
        }
        let seats = &step.plan.panel.seats;
        self.answered
            .sort_by_key(|held| seats.iter().position(|seat| seat.id == held.agent_id));
        round::end(step, ROUND, self.since);
        if step.plan.debate.rounds.number() <= ROUND {
            return Break(Entry::Complete { rounds: ROUND });
        }
        Break(Entry::Synthesis(ExpertAnswers {
            independents: self.answered,
            sources: self.sources,
            impaired: self.failed.len() + self.degraded,
        }))
    }

    fn none_answered(&mut self, step: &mut StepContext<'_>) {
        let seats = &step.plan.panel.seats;
        self.failed
            .sort_by_key(|(agent, _)| seats.iter().position(|seat| seat.id == *agent));
        let by_agent = self.failed.iter().map(|(agent, error)| {
            let name = name_and_model(step.plan, step.run, agent);
            format!("{name}: {}", error.message)
        });
        // Without a key or a network the agents have nothing to say about: each vendor has one
        // cause for all of them.
        let access_failures = step.run.providers.access_failures();
        let by_vendor = access_failures.iter().map(|(provider, error)| {
            let cause = access_failure(step.plan, provider, error);
            format!("{}: {cause}", vendors::name(provider))
        });
        let reasons: Vec<String> = if access_failures.is_empty() {
            by_agent.collect()
        } else {
            by_vendor.collect()
        };
        let reasons = reasons.join("\n");
        let message = format!("All agents failed. Unable to provide consultation.\n{reasons}");
        step.stop(AbortReason::AllAgentsFailed, message);
    }
}

fn access_failure(plan: &Plan, provider: &ProviderId, error: &AgentError) -> String {
    let message = &error.message;
    let mut models = plan.models.keys();
    let is_by_plan = models.any(|model| model.provider == *provider && plan.is_by_plan(model));
    match error.class {
        Some(FailureClass::Auth) if is_by_plan => format!("not logged in: {message}"),
        Some(FailureClass::Auth) => format!("key refused: {message}"),
        Some(FailureClass::Billing) => format!("payment required: {message}"),
        Some(FailureClass::Quota) => format!("limit of the plan reached: {message}"),
        Some(FailureClass::Transport) => format!("no connection: {message}"),
        _ => format!("no answer: {message}"),
    }
}

/// With its model if a fallback has taken over.
fn name_and_model(plan: &Plan, run: &RunState, agent: &AgentId) -> String {
    let name = plan.agent_name(agent);
    match run.fallbacks_in_use.get(agent) {
        Some(model) => format!("{name} ({model})"),
        None => name,
    }
}
