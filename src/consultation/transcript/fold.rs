//! Folds events into a transcript.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::consultation::event::{
    AgentEvent, CallEvent, CallStarted, CancelReason, ConsultationEvent, CostEvent, Envelope,
    Event, JudgeEvent, PanelEvent, ProviderEvent, RoundEvent, StateEvent, StateName,
};
use crate::domain::ids::{AgentId, CallId};
use crate::domain::record::stored_record::StoredHedge;

use super::Transcript;

impl Transcript {
    /// Returns `None` if the first is not `consultation:started`.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Envelope>) -> Option<Self> {
        let mut events = events.into_iter();
        let first = events.next()?;
        let Event::Consultation(ConsultationEvent::Started(terms)) = &first.event else {
            return None;
        };
        let mut transcript = Self {
            id: first.consultation_id.clone(),
            started_at: first.at,
            last_at: first.at,
            terms: (**terms).clone(),
            estimate: None,
            consent: None,
            state: StateName::Idle,
            artifacts: Vec::new(),
            second_pass: None,
            rejudged: None,
            calls: Vec::new(),
            lost_calls: Vec::new(),
            tokens_saved: 0,
            failures: Vec::new(),
            substitutions: Vec::new(),
            hedges: Vec::new(),
            ceiling: None,
            held_until: BTreeMap::new(),
            rounds: Vec::new(),
            early_end: None,
            persona_selection: None,
            abort: None,
            duration: Duration::ZERO,
            paused: Duration::ZERO,
            waited_for_person: Duration::ZERO,
        };
        for event in events {
            transcript.take(event);
        }
        Some(transcript)
    }

    /// Adds the next event.
    pub fn take(&mut self, envelope: &Envelope) {
        if let Event::Consultation(ConsultationEvent::Resumed(_)) = &envelope.event {
            self.paused += envelope.at.since(self.last_at);
        }
        self.last_at = envelope.at;
        self.waited_for_person += Duration::from_millis(envelope.waited_for_person_ms);
        self.duration = envelope
            .at
            .since(self.started_at)
            .saturating_sub(self.paused + self.waited_for_person);
        match &envelope.event {
            Event::Consultation(event) => self.take_consultation(event),
            Event::Call(event) => self.take_call(event),
            Event::State(StateEvent::Changed { to, .. }) => self.state = *to,
            Event::Agent(AgentEvent::Failed(failure)) => {
                self.forget_failure(&failure.agent_id, failure.round_number);
                self.failures.push(failure.clone());
            }
            Event::Agent(AgentEvent::Completed {
                agent_id,
                round_number,
                ..
            }) => self.forget_failure(agent_id, *round_number),
            Event::Round(RoundEvent::Completed {
                round_number,
                duration_ms,
            }) => self
                .rounds
                .push((*round_number, Duration::from_millis(*duration_ms))),
            Event::Judge(JudgeEvent::Rejudged(held)) => self.rejudged = Some(held.clone()),
            Event::Judge(JudgeEvent::SecondPass(second)) => {
                self.second_pass = Some((**second).clone());
            }
            Event::Panel(PanelEvent::PersonasSelected(selection)) => {
                self.terms.panel = selection.panel.clone();
                self.terms.expert_order.clone_from(&selection.expert_order);
                self.persona_selection = Some((**selection).clone());
            }
            Event::Cost(CostEvent::CeilingReached(ceiling)) => self.ceiling = Some(ceiling.clone()),
            Event::Provider(ProviderEvent::Held {
                provider, wait_ms, ..
            }) => {
                let until = envelope.at.after(Duration::from_millis(*wait_ms));
                self.held_until.insert(provider.clone(), until);
            }
            Event::Round(RoundEvent::Started { .. })
            | Event::Agent(AgentEvent::Thinking { .. })
            | Event::Cost(CostEvent::GateTriggered { .. })
            | Event::Pulse(_)
            | Event::Health(_)
            | Event::Provider(
                ProviderEvent::CircuitChanged { .. } | ProviderEvent::KeyChanged { .. },
            ) => {}
        }
    }

    fn take_consultation(&mut self, event: &ConsultationEvent) {
        match event {
            ConsultationEvent::CostEstimated(estimate) => self.estimate = Some(estimate.clone()),
            ConsultationEvent::UserConsent { approved, how } => {
                self.consent = Some((*approved, *how));
            }
            ConsultationEvent::RoundArtifact { artifact } => {
                self.artifacts.push((**artifact).clone());
            }
            ConsultationEvent::ProviderSubstituted(substitution) => {
                self.substitutions.push(substitution.clone());
            }
            ConsultationEvent::EarlyTerminationDecided(decision) => {
                self.early_end = Some((**decision).clone());
            }
            ConsultationEvent::Resumed(resumed) => {
                let pricing = resumed.terms.pricing.clone();
                if let Some((pricing, plan)) = pricing.zip(self.terms.plan.as_mut()) {
                    plan.set_pricing(pricing);
                }
                self.state = resumed.state;
                self.abort = None;
            }
            ConsultationEvent::Aborted(abort) => self.abort = Some(abort.clone()),
            ConsultationEvent::Started(_)
            | ConsultationEvent::Completed { .. }
            | ConsultationEvent::SubstitutionOffered(_)
            | ConsultationEvent::EarlyTerminationOffered(_) => {}
        }
    }

    fn take_call(&mut self, event: &CallEvent) {
        match event {
            CallEvent::Started(started) => self.lost_calls.push(started.clone()),
            CallEvent::Finished(finished) => {
                let mut started = self
                    .lost_calls
                    .extract_if(.., |lost| lost.call == finished.call);
                let saved = started.next().map_or(0, |started| started.tokens_saved);
                drop(started);
                if finished.tokens.prompt() > 0 {
                    self.tokens_saved = self.tokens_saved.saturating_add(saved);
                }
                self.calls.push((**finished).clone());
            }
            CallEvent::Hedged {
                call,
                agent_id,
                model,
                backup,
                after_ms,
            } => self.hedges.push(StoredHedge {
                agent: self.terms.panel.agent_name(agent_id).to_owned(),
                agent_id: agent_id.clone(),
                round_number: self.under_way(*call).map(|call| call.round_number),
                model: Some(model.clone()),
                backup: Some(backup.clone()),
                after_ms: Some(*after_ms),
                dropped: None,
            }),
            CallEvent::Cancelled {
                call,
                reason: CancelReason::HedgeLost,
            } => self.drop_loser(*call),
            CallEvent::FirstToken { .. }
            | CallEvent::Retried { .. }
            | CallEvent::NotHedged { .. }
            | CallEvent::Cancelled {
                reason: CancelReason::TooLate | CancelReason::Abort(_),
                ..
            } => {}
        }
    }

    fn forget_failure(&mut self, agent: &AgentId, round: u8) {
        self.failures
            .retain(|failure| failure.agent_id != *agent || failure.round_number != round);
    }

    fn under_way(&self, call: CallId) -> Option<&CallStarted> {
        self.lost_calls.iter().find(|lost| lost.call == call)
    }

    /// Notes the dropped call of a hedged pair. It remains a lost call: its cost is unknown.
    fn drop_loser(&mut self, call: CallId) {
        let Some(CallStarted {
            agent_id, model, ..
        }) = self.under_way(call).cloned()
        else {
            return;
        };
        let open = |hedge: &&mut StoredHedge| {
            hedge.agent_id == agent_id
                && hedge.dropped.is_none()
                && [&hedge.model, &hedge.backup].contains(&&Some(model.clone()))
        };
        if let Some(hedge) = self.hedges.iter_mut().rev().find(open) {
            hedge.dropped = Some(model);
        }
    }
}
