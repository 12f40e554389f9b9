//! One step of the machine: what a phase works with while it handles one input.

use crate::domain::panel::Panel;
use crate::domain::time::Timestamp;

use super::emitter::Emitter;
use super::run_state::RunState;
use crate::consultation::event::{AbortReason, Event};
use crate::consultation::plan::Plan;

/// Context for handling one input. A function that needs only a part of it takes that part.
#[derive(Debug)]
pub(crate) struct StepContext<'a> {
    pub(crate) now: Timestamp,
    pub(crate) plan: &'a Plan,
    pub(crate) run: &'a mut RunState,
    pub(crate) emitter: Emitter<'a>,
    /// Replaces the panel from the next step on.
    pub(crate) new_panel: Option<Panel>,
    pub(crate) stop: Option<Stop>,
}

/// Why the consultation ends after this step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) reason: AbortReason,
    pub(crate) message: String,
}

impl StepContext<'_> {
    pub(crate) fn emit(&mut self, event: impl Into<Event>) {
        self.emitter.emit(event);
    }

    /// Ends the consultation after this step; until then no call goes out. The first reason
    /// counts.
    pub(crate) fn stop(&mut self, reason: AbortReason, message: impl Into<String>) {
        self.stop.get_or_insert_with(|| Stop {
            reason,
            message: message.into(),
        });
    }

    /// Ends the consultation after this step at the person's request.
    pub(crate) fn stop_for_user(&mut self) {
        let seconds = self.run.elapsed_ms(self.now) / 1_000;
        self.stop(
            AbortReason::UserCancelled,
            format!("Consultation cancelled by user after {seconds}s"),
        );
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }
}
