//! After the last round: the answer is kept, and the clerk may still be comparing. It is waited for
//! a moment, and no longer.
//!
//! Invariant: from here on nothing but completion follows. Who interrupts, or whatever else would
//! end a consultation, ends the waiting.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::comparison;
use crate::consultation::event::StateName;
use crate::consultation::machine::step::StepContext;
use crate::consultation::protocol::TimerId;
use crate::consultation::state::State;
use crate::consultation::tasks::TaskSet;

/// How long an answer that is there is held back for the clerk.
pub(in crate::consultation) const GRACE: Duration = Duration::from_secs(10);

/// The clerk at work when all else is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct Closing {
    /// Where the last round was held: to every face the consultation is still there.
    pub(in crate::consultation) from: StateName,
    rounds: u8,
    pub(in crate::consultation) work: TaskSet,
    /// Fires when the waiting is over.
    grace: TimerId,
}

/// Completes after so many rounds, as soon as nobody is at work any more.
pub(in crate::consultation) fn enter(
    step: &mut StepContext<'_>,
    from: StateName,
    rounds: u8,
    mut work: TaskSet,
) -> State {
    comparison::keep(step, &mut work);
    if work.is_done() {
        return step.complete(from, rounds);
    }
    let grace = step.set_timer(step.now.after(GRACE));
    State::Closing(Closing {
        from,
        rounds,
        work,
        grace,
    })
}

impl Closing {
    pub(in crate::consultation) fn proceed(mut self, step: &mut StepContext<'_>) -> State {
        comparison::keep(step, &mut self.work);
        if self.work.is_done() {
            step.complete(self.from, self.rounds)
        } else {
            State::Closing(self)
        }
    }

    pub(in crate::consultation) fn is_over_at(&self, timer: TimerId) -> bool {
        self.grace == timer
    }

    /// Waits no longer.
    pub(in crate::consultation) fn give_up(mut self, step: &mut StepContext<'_>) -> State {
        self.work
            .abandon(step, "had not answered when everything else was done");
        step.complete(self.from, self.rounds)
    }

    /// Goes on after its process was gone: the waiting begins anew.
    pub(in crate::consultation) fn again(self, step: &mut StepContext<'_>) -> State {
        enter(step, self.from, self.rounds, self.work)
    }
}
