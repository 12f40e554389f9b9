//! The calls for one answer, with retries, fallbacks, hedges and repairs.

use conclave::consultation::event::{
    AgentError, AgentEvent, AgentFailure, CallError, CallEvent, CallFinished, CallStarted,
    CancelReason, ConsultationEvent, Event, Purpose, Substitution, WhySubstituted,
};
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::answer::artifact::Artifact;
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::cost::pricing::CostSource;
use conclave::domain::cost::tokens::{Usage, UsageSource};
use conclave::domain::ids::{AgentId, CallId, ModelRef};

use super::scenario::Generator;
use super::terms::{MODELS, model};

impl Generator {
    /// Returns the model that plays this seat now.
    pub(super) fn model_of(&self, agent: &AgentId) -> ModelRef {
        let substitute = self.events.iter().rev().find_map(|(_, event)| match event {
            Event::Consultation(ConsultationEvent::ProviderSubstituted(Substitution {
                agent_id,
                substitute,
                ..
            })) if agent_id == agent => Some(substitute.clone()),
            _ => None,
        });
        let original = || {
            self.terms
                .panel
                .seats
                .iter()
                .find(|seat| seat.id == *agent)
                .map(|seat| seat.model.clone())
        };
        substitute
            .or_else(original)
            .unwrap_or_else(|| self.terms.panel.judges[0].clone())
    }

    pub(super) fn start(
        &mut self,
        agent: &AgentId,
        answer: AnswerKind,
        purpose: Purpose,
        model: &ModelRef,
    ) -> CallId {
        let call = CallId(self.next_call);
        self.next_call += 1;
        self.emit(Event::Call(CallEvent::Started(CallStarted {
            call,
            agent_id: agent.clone(),
            round_number: answer.round(),
            answer,
            purpose,
            model: model.clone(),
            max_output_tokens: 8_000,
            prompt_sha256: String::new(),
            worst_case: Cost::FREE,
            tokens_saved: 0,
        })));
        call
    }

    /// Emits one call from start to end; it fails with the message in `failing`, if any.
    fn call(&mut self, step: Step<'_>, purpose: Purpose, model: &ModelRef, failing: Option<&str>) {
        let call = self.start(step.0, step.1, purpose, model);
        self.finish(call, step, purpose, model, failing);
    }

    fn finish(
        &mut self,
        call: CallId,
        (agent, answer): Step<'_>,
        purpose: Purpose,
        model: &ModelRef,
        failing: Option<&str>,
    ) {
        self.wait(6_000);
        let rng = &mut self.rng;
        let price = MODELS
            .iter()
            .find(|(provider, name, _)| {
                model.provider.as_str() == *provider && model.model == *name
            })
            .and_then(|(_, _, price)| *price);
        let mut tokens = Usage {
            input: rng.u64(200..4_000),
            output: rng.u64(50..1_500),
            ..Usage::default()
        };
        if rng.u8(..3) == 0 {
            tokens.cache_read = rng.u64(..2_000);
            tokens.reasoning = tokens.output / 3;
        }
        if rng.u8(..10) == 0 {
            tokens.source = UsageSource::Estimated;
        }
        let (mut cost, cost_source) = match price {
            Some(0) => (Cost::FREE, CostSource::Free),
            Some(price) => (
                Cost::exactly(MicroUsd(tokens.total() * price / 1_000)),
                CostSource::Table,
            ),
            None => (Cost::at_least(MicroUsd::ZERO), CostSource::Unknown),
        };
        let usage_reported = failing.is_none() || rng.u8(..4) == 0;
        if !usage_reported {
            tokens = Usage::default();
            cost = Cost {
                known: MicroUsd::ZERO,
                ..cost
            };
        }
        let stop = match (failing, rng.u8(..60)) {
            (Some(_), _) => None,
            (None, 0) => Some(StopReason::Length),
            (None, 1) => Some(StopReason::Refused("no".to_owned())),
            (None, _) => Some(StopReason::End),
        };
        let class = [
            FailureClass::Overload,
            FailureClass::Timeout,
            FailureClass::Billing,
        ][rng.usize(..3)];
        let error = failing.map(|message| CallError {
            class,
            message: message.to_owned(),
            retry_after_ms: None,
            usage_reported,
        });
        let first_token_ms = if rng.u8(..25) == 0 {
            None
        } else {
            Some(rng.u64(80..4_000))
        };
        let duration_ms = first_token_ms.unwrap_or(900) + rng.u64(..9_000);
        self.emit(Event::Call(CallEvent::Finished(Box::new(CallFinished {
            call,
            agent_id: agent.clone(),
            round_number: answer.round(),
            answer,
            purpose,
            model: model.clone(),
            served_model: failing.is_none().then(|| model.model.clone()),
            stop,
            error,
            text: String::new(),
            tokens,
            cost,
            counted: None,
            cost_source,
            plan: None,
            first_token_ms,
            duration_ms,
            problems: vec![],
        }))));
    }

    fn substitute(
        &mut self,
        agent: &AgentId,
        round_number: u8,
        original: &ModelRef,
        substitute: &ModelRef,
        why: WhySubstituted,
    ) {
        self.emit(Event::Consultation(ConsultationEvent::ProviderSubstituted(
            Substitution {
                agent_id: agent.clone(),
                round_number,
                original: original.clone(),
                substitute: substitute.clone(),
                reason: why,
                message: "no answer within 120 s".to_owned(),
            },
        )));
    }

    /// Emits the calls for one answer with random failures. Returns false when the agent fails.
    pub(super) fn answer(
        &mut self,
        agent: &AgentId,
        answer: AnswerKind,
        failure: FailureMode,
    ) -> bool {
        let model_now = self.model_of(agent);
        let (step, round) = ((agent, answer), answer.round());
        match (failure, self.rng.u8(..40)) {
            (FailureMode::Always, _) | (FailureMode::Random, 0) => {
                let message = "Your credit balance is too low";
                self.call(step, Purpose::Answer, &model_now, Some(message));
                self.emit(Event::Agent(AgentEvent::Failed(AgentFailure {
                    agent_id: agent.clone(),
                    name: agent.to_string(),
                    round_number: round,
                    answer,
                    model: model_now,
                    error: AgentError {
                        class: Some(FailureClass::Billing),
                        message: message.to_owned(),
                    },
                })));
                return false;
            }
            (_, 1 | 2) => {
                let message = "overloaded, try again later";
                self.call(step, Purpose::Answer, &model_now, Some(message));
                self.call(step, Purpose::Retry, &model_now, None);
            }
            (_, 3) => {
                self.call(step, Purpose::Answer, &model_now, Some("no such model"));
                let other = model(&mut self.rng);
                self.substitute(agent, round, &model_now, &other, WhySubstituted::Failure);
                self.call(step, Purpose::Fallback, &other, None);
            }
            (_, hedged @ 4..8) => {
                let slow = self.start(agent, answer, Purpose::Answer, &model_now);
                let backup = model(&mut self.rng);
                let agent_id = agent.clone();
                self.emit(Event::Call(CallEvent::Hedged {
                    call: slow,
                    agent_id,
                    model: model_now.clone(),
                    backup: backup.clone(),
                    after_ms: 4_000,
                }));
                let hedge = self.start(agent, answer, Purpose::Hedge, &backup);
                if hedged % 2 == 0 {
                    self.finish(hedge, step, Purpose::Hedge, &backup, None);
                    self.emit(Event::Call(CallEvent::Cancelled {
                        call: slow,
                        reason: CancelReason::HedgeLost,
                    }));
                    self.substitute(agent, round, &model_now, &backup, WhySubstituted::Hedge);
                } else {
                    self.finish(slow, step, Purpose::Answer, &model_now, None);
                    self.emit(Event::Call(CallEvent::Cancelled {
                        call: hedge,
                        reason: CancelReason::HedgeLost,
                    }));
                }
            }
            (_, 8) => {
                self.call(step, Purpose::Answer, &model_now, None);
                self.call(step, Purpose::Repair, &model_now, None);
            }
            (FailureMode::Random | FailureMode::Never, _) => {
                self.call(step, Purpose::Answer, &model_now, None);
            }
        }
        let content = self.content(agent, answer);
        let degraded = self.rng.u8(..50) == 0;
        self.emit(Event::Consultation(ConsultationEvent::RoundArtifact {
            artifact: Box::new(Artifact::stamp(content, self.now, degraded)),
        }));
        true
    }
}

/// Who is asked for which answer.
type Step<'a> = (&'a AgentId, AnswerKind);

/// Whether an agent fails.
#[derive(Clone, Copy)]
pub(super) enum FailureMode {
    Never,
    Random,
    Always,
}
