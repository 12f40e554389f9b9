//! The state of a document's refinement: the fold of its log. Pure: a live loop decides from the
//! same state that a replay of the log gives.
//!
//! A driver appends `Begun` or `Resumed`, and then does what [`RefinementLoop::next_step`] names,
//! each time with an event before and after, until the loop stops or has ended:
//!
//! ```text
//! Begun ─► (extraction) ─► IterationStarted ─► batches ─► Integrated ─► DocumentWritten ─┬─► Ended
//!                                ▲                                                       │
//!                                └───────────────────────────────────────────────────────┘
//! ```
//!
//! Invariant: findings are used up only by a merge that was written. A process that is killed
//! between any two events, or a person who edits the document meanwhile, loses no answer that was
//! paid for.

mod consultation;
mod iteration;
mod refinement_loop;
mod next_step;
mod merge;
mod proposal;
#[cfg(test)]
mod tests;

use crate::domain::record::log::Fold;

use super::event::{RefinementEvent, RefinementEventKind, TextHash};

pub use consultation::{BatchRecord, ConsultationRecord, ConsultationStatus, ExtractionRecord};
pub use iteration::IterationRecord;
pub use merge::Merge;
pub use next_step::{DocumentNow, NextStep};
pub use proposal::BlockerProposal;
pub use refinement_loop::{LoopPhase, RefinementLoop};

/// A log whose events do not follow from each other, and how they do not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RefinementStateError(String);

/// The result of an event.
type Applied = Result<(), RefinementStateError>;

fn refused<T>(problem: impl Into<String>) -> Result<T, RefinementStateError> {
    Err(RefinementStateError(problem.into()))
}

/// Everything that is known of the loops over a document.
#[derive(Clone, Debug, PartialEq)]
pub struct RefinementState {
    /// Loops that have ended or were given up, oldest first.
    earlier: Vec<RefinementLoop>,
    current: RefinementLoop,
}

impl Fold for RefinementState {
    type Event = RefinementEvent;
    type Error = RefinementStateError;

    fn begin(event: &RefinementEvent) -> Result<Self, RefinementStateError> {
        let RefinementEventKind::Begun(begun) = &event.kind else {
            return refused("its first event is not the beginning of a loop");
        };
        Ok(Self {
            earlier: Vec::new(),
            current: RefinementLoop::new(begun, event.time),
        })
    }

    fn apply(&mut self, event: &RefinementEvent) -> Applied {
        if let RefinementEventKind::Begun(begun) = &event.kind {
            let new = RefinementLoop::new(begun, event.time);
            self.earlier.push(std::mem::replace(&mut self.current, new));
            return Ok(());
        }
        self.current.apply(event)
    }
}

impl RefinementState {
    pub fn current(&self) -> &RefinementLoop {
        &self.current
    }

    /// Oldest first.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = &RefinementLoop> {
        self.earlier.iter().chain([&self.current])
    }

    /// Returns the fingerprint of the text that was written last, in this loop or before it.
    pub fn last_written(&self) -> Option<&TextHash> {
        self.loops().rev().find_map(RefinementLoop::last_written)
    }
}
