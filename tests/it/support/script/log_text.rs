//! The log as text.

use conclave::consultation::event::{
    Abort, AgentEvent, AgentFailure, CallEvent, CallStarted, CeilingReached, ConsultationEvent,
    CostEvent, Event, HealthEvent, JudgeEvent, PanelEvent, ProviderEvent, PulseEvent, RoundEvent,
    StateEvent, Substitution,
};
use conclave::stopping::circuit::state::CircuitState;

/// Returns one line about the event.
pub(super) fn line(event: &Event) -> String {
    match event {
        Event::Consultation(ConsultationEvent::Started(_)) => "consultation:started".to_owned(),
        Event::Consultation(ConsultationEvent::CostEstimated(estimate)) => {
            format!("consultation:cost_estimated {} calls", estimate.calls.len())
        }
        Event::Consultation(ConsultationEvent::UserConsent { approved, how }) => {
            format!("consultation:user_consent {approved} {how:?}")
        }
        Event::State(StateEvent::Changed { from, to }) => format!("state:changed {from} -> {to}"),
        Event::Round(RoundEvent::Started { round_number }) => {
            format!("round:started {round_number}")
        }
        Event::Agent(AgentEvent::Thinking {
            agent_id, model, ..
        }) => format!("agent:thinking {agent_id} {model}"),
        Event::Agent(AgentEvent::Completed { agent_id, cost, .. }) => {
            format!("agent:completed {agent_id} {cost:.6}")
        }
        Event::Agent(AgentEvent::Failed(AgentFailure {
            agent_id, error, ..
        })) => format!("agent:failed {agent_id} {}", error.message),
        Event::Round(RoundEvent::Completed { round_number, .. }) => {
            format!("round:completed {round_number}")
        }
        Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) => {
            let kind =
                serde_json::to_value(artifact).expect("an artifact is JSON")["artifact_type"]
                    .to_string();
            format!(
                "consultation:round_artifact {kind}{}",
                if artifact.degraded { " degraded" } else { "" }
            )
        }
        Event::Judge(JudgeEvent::SecondPass(second)) => format!(
            "judge:second_pass consistent {:?}, {:?}",
            second.held.consistent, second.held.magnitude
        ),
        Event::Judge(JudgeEvent::Rejudged(held)) => format!(
            "judge:rejudged consistent {:?}, {:?}",
            held.consistent, held.magnitude
        ),
        Event::Consultation(ConsultationEvent::ProviderSubstituted(Substitution {
            agent_id,
            original,
            substitute,
            ..
        })) => {
            format!("consultation:provider_substituted {agent_id} {original} -> {substitute}")
        }
        Event::Panel(PanelEvent::PersonasSelected(cast)) => {
            let seats: Vec<&str> = cast
                .panel
                .seats
                .iter()
                .map(|seat| seat.id.as_str())
                .collect();
            format!("panel:cast {}", seats.join(", "))
        }
        Event::Consultation(ConsultationEvent::Completed { rounds, .. }) => {
            format!("consultation:completed {rounds}")
        }
        Event::Consultation(ConsultationEvent::Aborted(Abort { reason, during, .. })) => {
            format!("consultation:aborted {reason:?} during {during}")
        }
        Event::Call(CallEvent::Started(CallStarted {
            call,
            agent_id,
            purpose,
            ..
        })) => format!("call:started {} {agent_id} {purpose:?}", call.0),
        Event::Call(CallEvent::FirstToken { call }) => format!("call:first_token {}", call.0),
        Event::Call(CallEvent::Retried { call, wait_ms, .. }) => {
            format!("call:retried {} after {wait_ms} ms", call.0)
        }
        Event::Provider(ProviderEvent::CircuitChanged {
            provider, circuit, ..
        }) => {
            let state = match circuit {
                CircuitState::Closed => "closed",
                CircuitState::Open { .. } => "open",
                CircuitState::HalfOpen { .. } => "half open",
            };
            format!("provider:circuit_changed {provider} {state}")
        }
        Event::Provider(ProviderEvent::KeyChanged {
            provider,
            is_refused,
        }) => {
            let state = if *is_refused { "refused" } else { "accepted" };
            format!("provider:key_changed {provider} {state}")
        }
        Event::Provider(ProviderEvent::Held {
            provider, wait_ms, ..
        }) => format!("provider:held {provider} for {wait_ms} ms"),
        Event::Call(CallEvent::Cancelled { call, reason }) => {
            format!("call:cancelled {} {reason:?}", call.0)
        }
        Event::Call(CallEvent::Hedged {
            call,
            model,
            backup,
            after_ms,
            ..
        }) => {
            format!(
                "call:hedged {} {model} -> {backup} after {after_ms} ms",
                call.0
            )
        }
        Event::Call(CallEvent::NotHedged { call, reason, .. }) => {
            format!("call:not_hedged {} {reason:?}", call.0)
        }
        Event::Consultation(ConsultationEvent::SubstitutionOffered(Substitution {
            agent_id,
            original,
            substitute,
            ..
        })) => {
            format!("consultation:substitution_offered {agent_id} {original} -> {substitute}")
        }
        Event::Consultation(ConsultationEvent::EarlyTerminationOffered(findings)) => {
            format!(
                "consultation:early_termination_offered {:?}",
                findings.confidence.map(|stated| stated.to_string())
            )
        }
        Event::Consultation(ConsultationEvent::EarlyTerminationDecided(decision)) => format!(
            "consultation:early_termination_decided {} {:?}",
            decision.ended, decision.by
        ),
        Event::Consultation(ConsultationEvent::Resumed(resumed)) => format!(
            "consultation:resumed in {}, {} lost",
            resumed.state,
            resumed.lost_calls.len()
        ),
        Event::Cost(CostEvent::GateTriggered { why, .. }) => format!("cost:gate_triggered {why:?}"),
        Event::Cost(CostEvent::CeilingReached(CeilingReached {
            agent_id, model, ..
        })) => format!("cost:ceiling_reached {agent_id} {model}"),
        Event::Pulse(PulseEvent::Asked {
            round_number,
            waiting,
            asked,
            ..
        }) => {
            format!(
                "pulse:asked {round_number} {} waiting{}",
                waiting.len(),
                if *asked { "" } else { ", user not asked" }
            )
        }
        Event::Pulse(PulseEvent::Answered { answer, .. }) => format!("pulse:answered {answer:?}"),
        Event::Health(HealthEvent::CheckStarted { provider }) => {
            format!("health:check_started {provider}")
        }
        Event::Health(HealthEvent::StatusUpdated(health)) => format!(
            "health:status_updated {} {:?}",
            health.provider, health.status
        ),
        Event::Call(CallEvent::Finished(finished)) => {
            let outcome = finished
                .error
                .as_ref()
                .map_or_else(|| "ok".to_owned(), |error| format!("{:?}", error.class));
            format!(
                "call:finished {} {outcome} {:.6}",
                finished.call.0, finished.cost
            )
        }
    }
}
