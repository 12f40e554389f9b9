//! Events for subscribers: one closed enum for terminal, journal and other faces. A journal line is
//! an [`Envelope`].

mod consultation;
mod agent;
mod call;
mod provider;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::domain::ids::{ConsultationId, TimerId};
use crate::domain::record::log::LogLine;
use crate::domain::time::Timestamp;

pub use crate::domain::record::stored_record::{
    AgentError, CallError, Substitution, WhySubstituted,
};
pub use agent::{
    AgentEvent, AgentFailure, Answer, JudgeEvent, PanelEvent, PanelSelection, PulseAnswer,
    PulseEvent, StillWaiting,
};
use call::is_zero;
pub use call::{AttemptNumber, CallEvent, CallFinished, CallStarted, CancelReason, Purpose};
pub use consultation::{
    Abort, AbortReason, CeilingReached, ConsultationEvent, CostEvent, DecidedBy, EarlyTermination,
    EarlyTerminationDecision, Resumed, RoundEvent, Started, StateEvent, StateName,
};
pub use provider::{HealthEvent, HealthUpdate, ProviderEvent};

/// The version of the event stream and of the journal.
pub const SCHEMA_VERSION: &str = "1.0";

/// An event with its position in the log of one consultation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    pub schema_version: String,
    /// Counted from 1 without gaps.
    pub seq: u64,
    pub at: Timestamp,
    pub consultation_id: ConsultationId,
    /// The input that led to this event and those up to the next cause; replaying the log needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Milliseconds before this event, since the one before, in which only the person was waited
    /// for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited_for_person_ms: u64,
    #[serde(flatten)]
    pub event: Event,
}

impl LogLine for Envelope {
    fn schema_version() -> Value {
        SCHEMA_VERSION.into()
    }
}

/// The input that led to an event, unless the event itself shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Start,
    /// The person answered the open question.
    Answered(Answer),
    /// An answer begins; this event, `call:first_token`, names its call.
    FirstToken,
    /// A call finished; this event, `call:finished`, holds its outcome.
    Replied,
    /// A requested call was admitted; this event, `call:started` or `call:hedged`, names it.
    Admitted,
    /// A requested call was not admitted; the event names it and the reason.
    NotAdmitted,
    Timer(TimerId),
    Interrupted,
    /// The process reports a change of a provider; the event holds it.
    Provider,
    /// A health check has begun; the event names the provider.
    HealthCheck,
    /// A provider's health has changed; the event holds it.
    Health,
    /// An interrupted consultation is resumed; the event holds the terms.
    Resumed,
}

/// An event, by family: the part of its type before the colon.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Event {
    Consultation(ConsultationEvent),
    State(StateEvent),
    Round(RoundEvent),
    Agent(AgentEvent),
    Call(CallEvent),
    Provider(ProviderEvent),
    Cost(CostEvent),
    Panel(PanelEvent),
    Judge(JudgeEvent),
    Pulse(PulseEvent),
    Health(HealthEvent),
}

impl From<ConsultationEvent> for Event {
    fn from(event: ConsultationEvent) -> Self {
        Self::Consultation(event)
    }
}

// Implemented by hand, because an untagged enum would report every malformed event as matching no
// variant.
impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let event_type = value
            .get("type")
            .and_then(Value::as_str)
            .ok_or_else(|| D::Error::missing_field("type"))?;
        let family = event_type.split_once(':').map(|(family, _)| family);
        let event = match family {
            Some("consultation") => ConsultationEvent::deserialize(value).map(Self::Consultation),
            Some("state") => StateEvent::deserialize(value).map(Self::State),
            Some("round") => RoundEvent::deserialize(value).map(Self::Round),
            Some("agent") => AgentEvent::deserialize(value).map(Self::Agent),
            Some("call") => CallEvent::deserialize(value).map(Self::Call),
            Some("provider") => ProviderEvent::deserialize(value).map(Self::Provider),
            Some("cost") => CostEvent::deserialize(value).map(Self::Cost),
            Some("panel") => PanelEvent::deserialize(value).map(Self::Panel),
            Some("judge") => JudgeEvent::deserialize(value).map(Self::Judge),
            Some("pulse") => PulseEvent::deserialize(value).map(Self::Pulse),
            Some("health") => HealthEvent::deserialize(value).map(Self::Health),
            Some(_) | None => {
                let unknown = format!("unknown event type `{event_type}`");
                return Err(D::Error::custom(unknown));
            }
        };
        event.map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        serde_json::from_str::<Event>(json).unwrap_err().to_string()
    }

    #[test]
    fn an_unreadable_event_names_the_problem() {
        assert_eq!(error("{}"), "missing field `type`");
        let expected = "unknown event type `weather:changed`";
        assert_eq!(error(r#"{"type":"weather:changed","data":{}}"#), expected);
        assert_eq!(
            error(r#"{"type":"round:paused","data":{}}"#),
            "unknown variant `round:paused`, expected `round:started` or `round:completed`"
        );
        let expected = "missing field `round_number`";
        assert_eq!(error(r#"{"type":"round:started","data":{}}"#), expected);
    }
}
