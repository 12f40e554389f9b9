//! Facts from earlier events that later lines of progress need: the terms, the estimate, and the
//! agent of each call.

use std::collections::BTreeMap;

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::event::{
    CallEvent, ConsultationEvent, CostEvent, Envelope, Event, PanelEvent, Started,
};
use crate::consultation::policy::consent::Month;
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::domain::ids::{AgentId, CallId, ModelRef};
use crate::domain::time::Timestamp;

use super::messages;

/// The facts of one consultation as far as its events have been seen.
#[derive(Debug, Default)]
pub(super) struct RunFacts {
    pub(super) started_at: Timestamp,
    pub(super) terms: Option<Box<Started>>,
    pub(super) estimate: Option<Estimate>,
    pub(super) gate_reasons: Vec<GateReason>,
    calls: BTreeMap<CallId, (AgentId, ModelRef)>,
}

impl RunFacts {
    /// Records what an event says.
    pub(super) fn learn(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::Consultation(ConsultationEvent::Started(terms)) => {
                self.started_at = envelope.at;
                self.terms = Some(terms.clone());
            }
            Event::Consultation(ConsultationEvent::Resumed(_)) => self.started_at = envelope.at,
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
            Event::Call(CallEvent::Started {
                call,
                agent_id,
                model,
                ..
            }) => {
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
                CallEvent::Retried { .. }
                | CallEvent::Hedged { .. }
                | CallEvent::NotHedged { .. }
                | CallEvent::Cancelled { .. }
                | CallEvent::Finished(_),
            )
            | Event::State(_)
            | Event::Round(_)
            | Event::Agent(_)
            | Event::Judge(_)
            | Event::Pulse(_)
            | Event::Health(_)
            | Event::Provider(_) => {}
        }
    }

    /// Returns the display name of an agent.
    pub(super) fn name_of(&self, agent: &AgentId) -> String {
        let terms = self.terms.as_ref();
        let seat = terms.and_then(|terms| terms.panel.seat_of(agent));
        seat.map_or_else(
            || messages::beside_the_panel(agent).to_owned(),
            |seat| seat.name().to_owned(),
        )
    }

    /// Returns the labels under which the judge sees the experts.
    pub(super) fn labels(&self) -> Option<Labels> {
        let terms = self.terms.as_ref()?;
        Labels::in_order(&terms.expert_order, &terms.panel.seats)
    }

    /// Returns the name of the agent that a call belongs to, and the model it went to.
    pub(super) fn caller(&self, call: CallId) -> Option<(String, &ModelRef)> {
        let (agent, model) = self.calls.get(&call)?;
        Some((self.name_of(agent), model))
    }

    /// Returns the budget of the month, if one is set.
    pub(super) fn month(&self) -> Option<Month> {
        self.terms.as_ref()?.plan.as_ref()?.control.consent.month
    }
}
