//! Decides how a task continues when its model has failed for good: with a saved text, with a
//! fallback model, or without an answer.

use crate::consultation::event::{
    AbortReason, AgentError, AgentEvent, AgentFailure, Answer, ConsultationEvent, Event, Purpose,
    Substitution, WhySubstituted,
};
use crate::consultation::machine::SubstitutionOffer;
use crate::consultation::machine::round;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::policy::health::HealthStatus;
use crate::consultation::policy::retry::RetryCounts;
use crate::consultation::policy::substitution::OnFailure;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::ModelRef;
use crate::domain::time::Timestamp;

use super::outcome::{AgentAnswer, OpenOffer, TaskOutcome, TaskStatus};
use super::task::{AgentTask, FallbackRule};

impl AgentTask {
    /// Uses a saved text if there is one, else a fallback model, else fails.
    pub(crate) fn give_up(
        &mut self,
        step: &mut StepContext<'_>,
        reason: WhySubstituted,
        error: AgentError,
    ) -> Option<TaskOutcome> {
        if self.rules.is_limited {
            return Some(self.settle(step, Err(error)));
        }
        if let Some(answer) = self.take_saved_answer(step.plan) {
            return Some(self.settle(step, Ok(answer)));
        }
        let control = &step.plan.control;
        let declined = error.class.is_none();
        let may_fall_back = match self.rules.fallback {
            FallbackRule::Never => false,
            FallbackRule::OnFailure => !declined,
            FallbackRule::OnFailureOrRefusal | FallbackRule::Always => true,
        };
        let substitute = self
            .substitute(step)
            .filter(|_| !control.strict && may_fall_back);
        let on_failure = control.on_failure.decide(control.consent.consent_mode);
        match (on_failure, substitute) {
            (OnFailure::Fail, _) if self.rules.counts => self.end_all(step, &error),
            (OnFailure::Fail, _) | (_, None) => Some(self.settle(step, Err(error))),
            (OnFailure::Skip, Some(_)) if !self.rules.ignores_skip() => {
                Some(self.settle(step, Err(error)))
            }
            (OnFailure::Substitute | OnFailure::Skip, Some(substitute)) => {
                self.take_over(step, substitute, reason, &error)
            }
            (OnFailure::Ask, Some(substitute)) => {
                let offered = self.substitution(&substitute, reason, &error.message);
                step.emit(ConsultationEvent::SubstitutionOffered(offered));
                self.status = TaskStatus::Asking(OpenOffer {
                    substitute,
                    reason,
                    error,
                    since: step.now,
                });
                None
            }
        }
    }

    /// The best one whose provider is not known to be unhealthy, else the best one whose provider
    /// can be called at all.
    fn substitute(&self, step: &StepContext<'_>) -> Option<ModelRef> {
        let (providers, now) = (&step.run.providers, step.now);
        let control = &step.plan.control;
        let is_asked = control.on_failure.decide(control.consent.consent_mode) == OnFailure::Ask;
        let is_callable = |model: &&ModelRef| {
            if is_asked {
                providers.may_be_offered(&model.provider, now)
            } else {
                providers.may_take_over(&model.provider, now)
            }
        };
        let callable = || self.rest.iter().filter(is_callable);
        let well =
            callable().find(|model| providers.health(&model.provider) != HealthStatus::Unhealthy);
        well.or_else(|| callable().next()).cloned()
    }

    pub(super) fn is_asking(&self) -> bool {
        self.open_offer().is_some()
    }

    fn open_offer(&self) -> Option<&OpenOffer> {
        match &self.status {
            TaskStatus::Asking(open) => Some(open),
            TaskStatus::Pending { .. } | TaskStatus::Calling(_) => None,
        }
    }

    pub(super) fn offer(&self, plan: &Plan) -> Option<SubstitutionOffer> {
        let open = self.open_offer()?;
        Some(SubstitutionOffer {
            name: plan.agent_name(&self.agent),
            offered: self.substitution(&open.substitute, open.reason, &open.error.message),
        })
    }

    /// Replaces an offer that cannot work any more: by another model, or by the failure.
    pub(super) fn renew_offer(&mut self, step: &mut StepContext<'_>) -> Option<TaskOutcome> {
        let open = self.open_offer()?;
        let providers = &step.run.providers;
        if step.is_stopping() || providers.may_be_offered(&open.substitute.provider, step.now) {
            return None;
        }
        let open = open.clone();
        self.end_question(step);
        self.give_up(step, open.reason, open.error)
    }

    /// Counts the time of the question, which is not the agent's.
    pub(super) fn end_question(&mut self, step: &StepContext<'_>) {
        if let Some(open) = self.open_offer() {
            self.asking_ms += step.run.ms_since(open.since, step.now);
        }
    }

    pub(super) fn substitution(
        &self,
        substitute: &ModelRef,
        reason: WhySubstituted,
        message: &str,
    ) -> Substitution {
        Substitution {
            agent_id: self.agent.clone(),
            round_number: self.answer.round(),
            original: self.current.clone(),
            substitute: substitute.clone(),
            reason,
            message: message.to_owned(),
        }
    }

    /// Without a person, it may.
    pub(super) fn answered(
        &mut self,
        step: &mut StepContext<'_>,
        answer: Answer,
    ) -> Option<TaskOutcome> {
        let OpenOffer {
            substitute,
            reason,
            error,
            ..
        } = self.open_offer()?.clone();
        self.end_question(step);
        match answer {
            Answer::Yes | Answer::Always(_) | Answer::Gone => {
                self.take_over(step, substitute, reason, &error)
            }
            Answer::No | Answer::GoOnWithout => Some(self.settle(step, Err(error))),
            Answer::Fail => {
                self.start_over(step.plan, Purpose::Answer, step.now);
                step.stop_for_user();
                None
            }
        }
    }

    /// Lets another model take over, for this task and the rounds to come.
    fn take_over(
        &mut self,
        step: &mut StepContext<'_>,
        substitute: ModelRef,
        reason: WhySubstituted,
        error: &AgentError,
    ) -> Option<TaskOutcome> {
        let substitution = self.substitution(&substitute, reason, &error.message);
        step.emit(ConsultationEvent::ProviderSubstituted(substitution));
        self.rest.retain(|model| *model != substitute);
        self.current = substitute.clone();
        step.run.hedge_winners.remove(&self.agent);
        step.run
            .fallbacks_in_use
            .insert(self.agent.clone(), substitute);
        self.start_over(step.plan, Purpose::Fallback, step.now);
        self.announce(step.plan, &mut step.emitter);
        self.go(step)
    }

    /// Resets the task for a model that has not been asked yet.
    fn start_over(&mut self, plan: &Plan, purpose: Purpose, now: Timestamp) {
        self.max_output_tokens = plan.terms(&self.current).max_output_tokens;
        self.repair = None;
        self.tried = RetryCounts::default();
        self.schedule(purpose, now);
    }

    /// The task stays open, so that a resumed run repeats it.
    fn end_all(&mut self, step: &mut StepContext<'_>, error: &AgentError) -> Option<TaskOutcome> {
        let (name, round) = (step.plan.agent_name(&self.agent), self.answer.round());
        let message = format!("{name} failed in Round {round}: {}", error.message);
        self.start_over(step.plan, Purpose::Answer, step.now);
        step.stop(AbortReason::AgentFailed, message);
        None
    }

    pub(crate) fn settle(
        &self,
        step: &mut StepContext<'_>,
        result: Result<AgentAnswer, AgentError>,
    ) -> TaskOutcome {
        let (agent_id, name, round_number) = (
            self.agent.clone(),
            step.plan.agent_name(&self.agent),
            self.answer.round(),
        );
        let trouble = match &result {
            Ok(answer) if answer.degraded => Some("could not be read as asked".to_owned()),
            Ok(_) => None,
            Err(error) => Some(format!("is missing: {}", error.message)),
        };
        if let Some(trouble) = trouble.filter(|_| step.plan.control.strict && self.rules.counts) {
            step.stop(
                AbortReason::Strict,
                format!(
                    "Refused under --strict: {name}'s answer in Round {round_number} {trouble}"
                ),
            );
        }
        let event = match &result {
            Ok(_) => Event::Agent(AgentEvent::Completed {
                agent_id,
                name,
                round_number,
                answer: self.answer,
                duration_ms: self.working_ms(step),
                tokens: self.tokens,
                cost: self.cost,
            }),
            Err(error) => Event::Agent(AgentEvent::Failed(AgentFailure {
                agent_id,
                name,
                round_number,
                answer: self.answer,
                model: self.current.clone(),
                error: error.clone(),
            })),
        };
        step.emit(event);
        if result.is_ok() {
            round::supersede_pulse(step);
        }
        TaskOutcome {
            agent: self.agent.clone(),
            answer: self.answer,
            result,
        }
    }
}

pub(crate) fn why(class: FailureClass) -> WhySubstituted {
    if class == FailureClass::Timeout {
        WhySubstituted::Timeout
    } else {
        WhySubstituted::Failure
    }
}
