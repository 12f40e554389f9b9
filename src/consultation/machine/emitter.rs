//! The effects of one step, in order: events with their numbers, timers, and all else that the
//! driver must do.

use std::time::Duration;

use crate::domain::answer::artifact::{Artifact, Content};
use crate::domain::ids::{CallId, ConsultationId, TimerId};
use crate::domain::time::Timestamp;

use crate::consultation::event::{Cause, ConsultationEvent, Envelope, Event, SCHEMA_VERSION};
use crate::consultation::machine::Effect;

/// The position in the log: the last numbers used, and the time of the last event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogPosition {
    events: u64,
    calls: u32,
    timers: u32,
    pub(crate) last_event_at: Timestamp,
}

/// Collects the effects of one step.
#[derive(Debug)]
pub(crate) struct Emitter<'a> {
    pub(crate) now: Timestamp,
    pub(crate) consultation: &'a ConsultationId,
    pub(crate) position: &'a mut LogPosition,
    /// Goes with the first event of this step.
    pub(crate) cause: Option<Cause>,
    pub(crate) effects: Vec<Effect>,
}

impl Emitter<'_> {
    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(crate) fn emit(&mut self, event: impl Into<Event>) {
        self.position.events += 1;
        self.position.last_event_at = self.now;
        self.effects.push(Effect::Emit(Box::new(Envelope {
            schema_version: SCHEMA_VERSION.to_owned(),
            seq: self.position.events,
            at: self.now,
            consultation_id: self.consultation.clone(),
            cause: self.cause.take(),
            waited_for_person_ms: 0,
            event: event.into(),
        })));
    }

    pub(crate) fn emit_artifact(&mut self, content: Content, degraded: bool) {
        let artifact = Artifact::stamp(content, self.now, degraded);
        self.emit(ConsultationEvent::RoundArtifact {
            artifact: Box::new(artifact),
        });
    }

    /// Invariant: a timer is set only in a step that also emits an event; a step without events is
    /// not in the log.
    pub(crate) fn set_timer(&mut self, wait: Duration) -> TimerId {
        self.position.timers += 1;
        let timer = TimerId(self.position.timers);
        let at = self.now.after(wait);
        self.push(Effect::SetTimer { timer, at });
        timer
    }

    pub(crate) fn next_call(&mut self) -> CallId {
        self.position.calls += 1;
        CallId(self.position.calls)
    }
}
