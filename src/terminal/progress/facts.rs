//! Facts from earlier events that later lines of progress need: the terms, the estimate, and the
//! agent of each call.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::event::{
    AgentEvent, CallEvent, CallStarted, ConsultationEvent, CostEvent, Envelope, Event, HealthEvent,
    PanelEvent, ProviderEvent, RoundEvent, Started,
};
use crate::consultation::plan::{Control, usual_max_calls};
use crate::consultation::policy::consent::Month;
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::consultation::policy::health::HealthStatus;
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::{AgentId, CallId, ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::time::Timestamp;

use super::messages;
use crate::terminal::output::format::seat_name;
use crate::text::clean::one_line;

/// The facts of one consultation as far as its events have been seen.
#[derive(Debug, Default)]
pub(super) struct RunFacts {
    pub(super) started_at: Timestamp,
    /// The time since then in which only the person was waited for.
    pub(super) waited_for_person: Duration,
    pub(super) terms: Option<Box<Started>>,
    pub(super) estimate: Option<Estimate>,
    pub(super) gate_reasons: Vec<GateReason>,
    calls: BTreeMap<CallId, (AgentId, ModelRef)>,
    /// The time that agents took whose answer has not been announced yet.
    answered: BTreeMap<AgentId, Duration>,
    /// Whether a model was asked in the current round.
    pub(super) has_asked: bool,
    providers: BTreeMap<ProviderId, ProviderFacts>,
    /// The moment of the last event.
    pub(super) now: Timestamp,
    /// The providers that bill calls beside a plan.
    pub(super) in_overage: BTreeSet<ProviderId>,
}

/// What is known of a provider.
#[derive(Debug, Default)]
struct ProviderFacts {
    /// Whether it answers, slowly or not always.
    is_degraded: bool,
    is_key_refused: bool,
}

impl RunFacts {
    /// Without the time in which only the person was waited for.
    pub(super) fn elapsed(&self, at: Timestamp) -> Duration {
        at.since(self.started_at)
            .saturating_sub(self.waited_for_person)
    }

    pub(super) fn start_clock(&mut self, at: Timestamp) {
        self.started_at = at;
        self.waited_for_person = Duration::ZERO;
    }

    pub(super) fn learn(&mut self, envelope: &Envelope) {
        self.waited_for_person += Duration::from_millis(envelope.waited_for_person_ms);
        self.now = envelope.at;
        match &envelope.event {
            Event::Consultation(ConsultationEvent::Started(terms)) => {
                self.start_clock(envelope.at);
                self.terms = Some(terms.clone());
            }
            Event::Consultation(ConsultationEvent::Resumed(_)) => self.start_clock(envelope.at),
            Event::Consultation(ConsultationEvent::CostEstimated(estimate)) => {
                self.estimate = Some(estimate.clone());
            }
            Event::Panel(PanelEvent::PersonasSelected(selection)) => {
                if let Some(terms) = &mut self.terms {
                    terms.panel = selection.panel.clone();
                    terms.expert_order.clone_from(&selection.expert_order);
                }
            }
            Event::Cost(CostEvent::GateTriggered { why, .. }) => self.gate_reasons.clone_from(why),
            Event::Round(RoundEvent::Started { .. }) => self.has_asked = false,
            Event::Agent(AgentEvent::Thinking { agent_id, .. }) => {
                self.has_asked = true;
                self.answered.remove(agent_id);
            }
            Event::Agent(AgentEvent::Completed {
                agent_id,
                duration_ms,
                ..
            }) => {
                let took = messages::time_in_run(*duration_ms, self.elapsed(envelope.at));
                self.answered.insert(agent_id.clone(), took);
            }
            Event::Health(HealthEvent::StatusUpdated(update)) => {
                // After a failure it is not known whether the provider can answer at all.
                self.provider(&update.provider).is_degraded =
                    update.status == HealthStatus::Degraded && update.consecutive_failures == 0;
            }
            Event::Provider(ProviderEvent::KeyChanged {
                provider,
                is_refused,
            }) => self.provider(provider).is_key_refused = *is_refused,
            Event::Call(CallEvent::Started(CallStarted {
                call,
                agent_id,
                model,
                ..
            })) => {
                self.calls.insert(*call, (agent_id.clone(), model.clone()));
            }
            Event::Consultation(
                ConsultationEvent::UserConsent { .. }
                | ConsultationEvent::RoundArtifact { .. }
                | ConsultationEvent::ProviderSubstituted(_)
                | ConsultationEvent::SubstitutionOffered(_)
                | ConsultationEvent::EarlyTerminationOffered(_)
                | ConsultationEvent::EarlyTerminationDecided(_)
                | ConsultationEvent::Completed { .. }
                | ConsultationEvent::Aborted(_),
            )
            | Event::Cost(CostEvent::CeilingReached(_))
            | Event::Call(
                CallEvent::FirstToken { .. }
                | CallEvent::Retried { .. }
                | CallEvent::Hedged { .. }
                | CallEvent::NotHedged { .. }
                | CallEvent::Cancelled { .. }
                | CallEvent::Finished(_),
            )
            | Event::Round(RoundEvent::Completed { .. })
            | Event::Agent(AgentEvent::Failed(_))
            | Event::Health(HealthEvent::CheckStarted { .. })
            | Event::Provider(ProviderEvent::Held { .. } | ProviderEvent::CircuitChanged { .. })
            | Event::State(_)
            | Event::Judge(_)
            | Event::Pulse(_) => {}
        }
    }

    fn provider(&mut self, provider: &ProviderId) -> &mut ProviderFacts {
        self.providers.entry(provider.clone()).or_default()
    }

    pub(super) fn degraded_providers(&self) -> Vec<&ProviderId> {
        let usable = |facts: &ProviderFacts| facts.is_degraded && !facts.is_key_refused;
        let providers = self.providers.iter();
        providers
            .filter(|(_, facts)| usable(facts))
            .map(|(provider, _)| provider)
            .collect()
    }

    /// Returns the consultation that the answers of a round were taken from; `None` where a model
    /// was asked, and where there was nothing to take.
    pub(super) fn source_of_round(&self, round: u8) -> Option<&ConsultationId> {
        let plan = self.terms.as_ref()?.plan.as_ref()?;
        let prior = plan.debate.prior_answers.as_ref()?;
        let is_taken = match round {
            1 => true,
            3 => prior.cross_exam.is_some(),
            _ => false,
        };
        (is_taken && !self.has_asked).then_some(&prior.from)
    }

    pub(super) fn name_of(&self, agent: &AgentId) -> String {
        let terms = self.terms.as_ref();
        let seat = terms.and_then(|terms| terms.panel.seat_of(agent));
        seat.map_or_else(
            || messages::beside_the_panel(agent).to_owned(),
            |seat| seat.name().to_owned(),
        )
    }

    pub(super) fn expert_name(&self, agent: &str) -> String {
        let terms = self.terms.as_ref();
        let seat = terms.and_then(|terms| Some((terms, terms.panel.seat(&SeatId::new(agent))?)));
        seat.map_or_else(
            || one_line(agent),
            |(terms, seat)| seat_name(&terms.panel, seat),
        )
    }

    /// Returns the time that an agent took, the first time after its answer.
    pub(super) fn take_answered(&mut self, agent: &AgentId) -> Option<Duration> {
        self.answered.remove(agent)
    }

    pub(super) fn labels(&self) -> Option<Labels> {
        let terms = self.terms.as_ref()?;
        Labels::in_order(&terms.expert_order, &terms.panel.seats)
    }

    pub(super) fn caller(&self, call: CallId) -> Option<(String, &ModelRef)> {
        let (agent, model) = self.calls.get(&call)?;
        Some((self.name_of(agent), model))
    }

    pub(super) fn month(&self) -> Option<Month> {
        self.control()?.consent.month
    }

    /// Returns the ceiling, and the most calls that plans pay for.
    pub(super) fn limits(&self) -> (Option<MicroUsd>, u32) {
        let control = self.control();
        control.map_or((None, usual_max_calls()), |control| {
            (control.max_cost, control.max_calls)
        })
    }

    fn control(&self) -> Option<&Control> {
        Some(&self.terms.as_ref()?.plan.as_ref()?.control)
    }
}
