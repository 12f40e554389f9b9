//! Folds events into a transcript.

use std::time::Duration;

use crate::consultation::event::{
    AgentEvent, CallEvent, CancelReason, ConsultationEvent, CostEvent, Envelope, Event,
    HealthEvent, JudgeEvent, PanelEvent, PulseEvent, RoundEvent, StateEvent, StateName,
};
use crate::domain::ids::{AgentId, CallId};
use crate::domain::stored_record::StoredHedge;

use super::Transcript;
use super::spend::LostCall;

impl Transcript {
    /// Folds events in order. Returns `None` if the first is not `consultation:started`.
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

    fn take(&mut self, envelope: &Envelope) {
        if let Event::Consultation(ConsultationEvent::Resumed(resumed)) = &envelope.event {
            self.paused += envelope.at.since(self.last_at);
            if let (Some(pricing), Some(plan)) = (&resumed.terms.pricing, &mut self.terms.plan) {
                plan.set_pricing(pricing.clone());
            }
        }
        self.last_at = envelope.at;
        self.waited_for_person += Duration::from_millis(envelope.waited_for_person_ms);
        self.duration = envelope
            .at
            .since(self.started_at)
            .saturating_sub(self.paused + self.waited_for_person);
        match &envelope.event {
            Event::Consultation(ConsultationEvent::CostEstimated(estimate)) => {
                self.estimate = Some(estimate.clone());
            }
            Event::Consultation(ConsultationEvent::UserConsent { approved, how }) => {
                self.consent = Some((*approved, *how));
            }
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
            Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) => {
                self.artifacts.push((**artifact).clone());
            }
            Event::Judge(JudgeEvent::Rejudged(held)) => self.rejudged = Some(held.clone()),
            Event::Judge(JudgeEvent::SecondPass(second)) => {
                self.second_pass = Some((**second).clone());
            }
            Event::Call(CallEvent::Started {
                call,
                agent_id,
                round_number,
                model,
                worst_case,
                tokens_saved,
                ..
            }) => self.lost_calls.push(LostCall {
                call: *call,
                agent_id: agent_id.clone(),
                round_number: *round_number,
                model: model.clone(),
                worst_case: worst_case.known,
                tokens_saved: *tokens_saved,
            }),
            Event::Call(CallEvent::Finished(finished)) => {
                let started = self.take_started(finished.call);
                if finished.tokens.prompt() > 0 {
                    let saved = started.map_or(0, |started| started.tokens_saved);
                    self.tokens_saved = self.tokens_saved.saturating_add(saved);
                }
                self.calls.push((**finished).clone());
            }
            Event::Consultation(ConsultationEvent::ProviderSubstituted(substitution)) => {
                self.substitutions.push(substitution.clone());
            }
            Event::Consultation(ConsultationEvent::Aborted(abort)) => {
                self.abort = Some(abort.clone());
            }
            Event::Panel(PanelEvent::PersonasSelected(selection)) => {
                self.terms.panel = selection.panel.clone();
                self.terms.expert_order.clone_from(&selection.expert_order);
                self.persona_selection = Some((**selection).clone());
            }
            Event::Consultation(ConsultationEvent::EarlyTerminationDecided(decision)) => {
                self.early_end = Some((**decision).clone());
            }
            Event::Consultation(ConsultationEvent::Resumed(resumed)) => {
                self.state = resumed.state;
                self.abort = None;
            }
            Event::Cost(CostEvent::CeilingReached(ceiling)) => self.ceiling = Some(ceiling.clone()),
            Event::Call(CallEvent::Hedged {
                call,
                agent_id,
                model,
                backup,
                after_ms,
            }) => self.hedges.push(StoredHedge {
                agent: self.terms.panel.agent_name(agent_id).to_owned(),
                agent_id: agent_id.clone(),
                round_number: self.under_way(*call).map(|call| call.round_number),
                model: Some(model.clone()),
                backup: Some(backup.clone()),
                after_ms: Some(*after_ms),
                dropped: None,
            }),
            Event::Call(CallEvent::Cancelled {
                call,
                reason: CancelReason::HedgeLost,
            }) => self.drop_loser(*call),
            Event::Consultation(
                ConsultationEvent::Started(_)
                | ConsultationEvent::Completed { .. }
                | ConsultationEvent::SubstitutionOffered(_)
                | ConsultationEvent::EarlyTerminationOffered(_),
            )
            | Event::Round(RoundEvent::Started { .. })
            | Event::Agent(AgentEvent::Thinking { .. })
            | Event::Call(
                CallEvent::Retried { .. }
                | CallEvent::NotHedged { .. }
                | CallEvent::Cancelled {
                    reason: CancelReason::TooLate | CancelReason::Abort(_),
                    ..
                },
            )
            | Event::Cost(CostEvent::GateTriggered { .. })
            | Event::Pulse(PulseEvent::Asked { .. } | PulseEvent::Answered { .. })
            | Event::Health(HealthEvent::CheckStarted { .. } | HealthEvent::StatusUpdated(_))
            | Event::Provider(_) => {}
        }
    }

    /// Removes an agent's earlier failure, which a new attempt replaces.
    fn forget_failure(&mut self, agent: &AgentId, round: u8) {
        self.failures
            .retain(|failure| failure.agent_id != *agent || failure.round_number != round);
    }

    fn under_way(&self, call: CallId) -> Option<&LostCall> {
        self.lost_calls.iter().find(|lost| lost.call == call)
    }

    fn take_started(&mut self, call: CallId) -> Option<LostCall> {
        let at = self.lost_calls.iter().position(|lost| lost.call == call)?;
        Some(self.lost_calls.remove(at))
    }

    /// Notes the dropped call of a hedged pair. It remains a lost call: its cost is unknown.
    fn drop_loser(&mut self, call: CallId) {
        let Some(LostCall {
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
