//! Follows a running consultation, for those who wait for it.

use std::collections::BTreeSet;

use tokio::sync::watch;

use crate::consultation::event::{AgentEvent, ConsultationEvent, Envelope, Event, RoundEvent};
use crate::domain::ids::AgentId;
use crate::domain::words::round_title;
use crate::engine::ports::{Subscriber, SubscriberError};

/// The phase of a consultation in words: `Round 1: 2 of 3 answered`. Before its first event it is
/// empty.
#[derive(Debug, Default)]
pub(super) struct PhaseWatch {
    pub(super) phase: watch::Sender<String>,
    round: u8,
    asked: BTreeSet<AgentId>,
    answered: BTreeSet<AgentId>,
}

impl PhaseWatch {
    fn say(&self) {
        let (round, asked, answered) = (self.round, self.asked.len(), self.answered.len());
        let phase = match (round, asked) {
            (0, _) => "Preparing".to_owned(),
            (_, 0) => format!("Round {round}: {}", round_title(round)),
            _ => format!("Round {round}: {answered} of {asked} answered"),
        };
        self.phase.send_replace(phase);
    }
}

impl Subscriber for PhaseWatch {
    fn event(&mut self, event: &Envelope) -> Result<(), SubscriberError> {
        match &event.event {
            Event::Round(RoundEvent::Started { round_number }) => {
                self.round = *round_number;
                self.asked.clear();
                self.answered.clear();
            }
            Event::Agent(AgentEvent::Thinking { agent_id, .. }) => {
                self.asked.insert(agent_id.clone());
            }
            Event::Agent(AgentEvent::Completed { agent_id, .. }) => {
                self.answered.insert(agent_id.clone());
            }
            Event::Consultation(ConsultationEvent::Started(_)) => {}
            _ if !self.phase.borrow().is_empty() => return Ok(()),
            _ => {}
        }
        self.say();
        Ok(())
    }
}
