//! One call in flight: its cancellation and its jitter.

use serde::{Deserialize, Serialize};

use crate::consultation::event::{CallEvent, CancelReason, Event, Purpose};
use crate::consultation::machine::Effect;
use crate::consultation::machine::step::StepContext;
use crate::domain::ids::{CallId, ModelRef};
use crate::domain::random::SplitMix64;
use crate::domain::time::Timestamp;

/// A call in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) call: CallId,
    pub(crate) model: ModelRef,
    pub(crate) purpose: Purpose,
    pub(crate) since: Timestamp,
    pub(crate) first_token: Option<Timestamp>,
}

impl Attempt {
    /// Cancels the call and drops its connection.
    pub(crate) fn cancel(&self, step: &mut StepContext<'_>, reason: CancelReason) {
        let call = self.call;
        step.run.budget.write_off(call);
        step.emitter.push(Effect::Cancel(call));
        step.emitter
            .emit(Event::Call(CallEvent::Cancelled { call, reason }));
    }
}

/// Returns a number from 0 to 1 that differs by run and call, and is the same on replay.
pub(super) fn jitter(seed: u64, call: CallId) -> f64 {
    SplitMix64::new(seed.wrapping_add(u64::from(call.0))).unit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jitter_of_a_call_never_changes() {
        assert_eq!(jitter(7, CallId(3)).to_string(), "0.033311053770689214");
    }
}
