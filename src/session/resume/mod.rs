//! An interrupted consultation: finds its journal, adds the text of its context, and restores it to
//! where it ended.

mod journal;
mod context;

use crate::consultation::event::Envelope;
use crate::consultation::machine::replay::{Replayed, replay};
use crate::consultation::plan::{Plan, ResumeTerms};
use crate::consultation::transcript::Transcript;
use crate::domain::ids::ConsultationId;
use crate::domain::panel::check_seats;
use crate::engine::clock::Clock;
use crate::engine::driver::RunStart;
use crate::engine::ports::Providers;
use crate::error::Error;

use super::run::Session;
use super::storage::Storage;

pub(super) use self::context::load as add_context;
pub use self::journal::{is_complete, open, open_id};

/// A consultation as its journal left it.
#[derive(Debug)]
pub struct InterruptedConsultation {
    pub id: ConsultationId,
    pub transcript: Transcript,
    replayed: Replayed,
    events: Vec<Envelope>,
    storage: Storage,
}

impl InterruptedConsultation {
    pub(super) fn restore(
        id: ConsultationId,
        events: Vec<Envelope>,
        storage: Storage,
    ) -> Result<Self, Error> {
        let cannot = |why: &dyn std::fmt::Display| {
            Error::usage(format!("cannot resume {}: {why}", id.short()))
        };
        let transcript = Transcript::fold(&events)
            .ok_or_else(|| cannot(&"the first event of its journal is missing"))?;
        check_seats(transcript.terms.panel.seats.len()).map_err(|error| cannot(&error))?;
        let replayed = replay(&events).map_err(|error| cannot(&error))?;
        Ok(Self {
            id,
            transcript,
            replayed,
            events,
            storage,
        })
    }

    pub fn plan(&self) -> &Plan {
        self.replayed.consultation.plan()
    }

    /// Returns whether what follows is stored.
    pub fn is_stored(&self) -> bool {
        matches!(self.storage, Storage::Files(..))
    }

    pub fn session(self, terms: ResumeTerms, providers: Providers, clock: Clock) -> Session {
        Session {
            consultation: self.replayed.consultation,
            start: RunStart::Resume {
                interruption: self.replayed.interruption,
                terms: Box::new(terms),
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            earlier: self.events,
            providers,
            storage: self.storage,
            clock,
        }
    }
}
