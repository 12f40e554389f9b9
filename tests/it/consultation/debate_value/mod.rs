//! The debate value: what the later rounds changed, from the log.

mod properties;
mod figures;
mod judgement;
mod report;

use conclave::consultation::event::ConsultationEvent;
use conclave::domain::answer::artifact::Content;
use conclave::domain::record::stored_record::DebateValue;

use crate::consultation::prelude::*;

const SEATS: [&str; 3] = ["security", "architecture", "pragmatic"];

pub(crate) fn contents(log: &mut [Envelope]) -> impl Iterator<Item = &mut Content> {
    log.iter_mut()
        .filter_map(|envelope| match &mut envelope.event {
            Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) => {
                Some(&mut artifact.content)
            }
            _ => None,
        })
}

/// Returns the artifact of an event.
fn content(envelope: &Envelope) -> Option<&Content> {
    match &envelope.event {
        Event::Consultation(ConsultationEvent::RoundArtifact { artifact }) => {
            Some(&artifact.content)
        }
        _ => None,
    }
}

fn debate_value(log: &[Envelope]) -> DebateValue {
    Transcript::fold(log).unwrap().debate_value()
}
