//! The spending of a batch so far, counted from the events of its consultations.

use std::sync::{Arc, Mutex, PoisonError};

use crate::consultation::event::{CallEvent, Envelope, Event};
use crate::domain::money::Cost;
use crate::domain::tokens::Usage;
use crate::engine::ports::{Subscriber, SubscriberError};

/// The total of finished calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) cost: Cost,
    pub(crate) calls: u64,
    pub(crate) tokens: Usage,
}

/// Adds the calls of every consultation to one total.
#[derive(Clone, Debug, Default)]
pub(super) struct Spending(Arc<Mutex<Spent>>);

impl Spending {
    pub(super) fn total(&self) -> Spent {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for Spending {
    fn event(&mut self, event: &Envelope) -> Result<(), SubscriberError> {
        if let Event::Call(CallEvent::Finished(call)) = &event.event {
            let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            spent.cost += call.cost;
            spent.calls += 1;
            spent.tokens += call.tokens;
        }
        Ok(())
    }
}
