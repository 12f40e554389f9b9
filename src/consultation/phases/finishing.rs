//! After the last round: the answer is ready, and the helper may still be comparing. It gets a
//! short grace period.
//!
//! Invariant: the only next state is completion. An interrupt, or anything else that would end the
//! consultation, ends the grace period.

use std::time::Duration;

use super::comparison;
use super::next::{Break, Continue, Entry, Next};
use crate::consultation::event::StateName;
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::step::StepContext;
use crate::consultation::tasks::TaskSet;
use crate::domain::ids::TimerId;

pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// Waiting for open optional tasks when everything else is done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finishing {
    /// The state of the last round, which is still the visible one.
    pub(crate) from: StateName,
    rounds: u8,
    pub(crate) tasks: TaskSet,
    /// Fires at the end of the grace period.
    pub(crate) grace: TimerId,
}

/// Completes at once, or when the open tasks or the grace period end.
pub(crate) fn enter(
    emitter: &mut Emitter<'_>,
    from: StateName,
    rounds: u8,
    mut tasks: TaskSet,
) -> Next<Finishing> {
    comparison::keep(emitter, &mut tasks);
    if tasks.is_done() {
        return Break(Entry::Complete { rounds });
    }
    let grace = emitter.set_timer(GRACE);
    Continue(Finishing {
        from,
        rounds,
        tasks,
        grace,
    })
}

impl Finishing {
    pub(crate) fn proceed(mut self, emitter: &mut Emitter<'_>) -> Next<Self> {
        comparison::keep(emitter, &mut self.tasks);
        if self.tasks.is_done() {
            Break(Entry::Complete {
                rounds: self.rounds,
            })
        } else {
            Continue(self)
        }
    }

    pub(crate) fn give_up(mut self, step: &mut StepContext<'_>) -> Self {
        self.tasks
            .abandon(step, "had not answered when everything else was done");
        self
    }

    /// With a new grace period.
    pub(crate) fn resume(self, emitter: &mut Emitter<'_>) -> Next<Self> {
        enter(emitter, self.from, self.rounds, self.tasks)
    }
}
