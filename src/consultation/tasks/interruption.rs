//! Interrupts a task and resumes it.

use crate::consultation::event::{AbortReason, CancelReason, Purpose};
use crate::consultation::machine::step::StepContext;

use super::outcome::{Status, TaskOutcome};
use super::task::AgentTask;

impl AgentTask {
    /// Cancels the calls in flight; the task stays open.
    pub(super) fn cancel(&mut self, step: &mut StepContext<'_>, reason: AbortReason) {
        if self.cancel_calls(step, CancelReason::Abort(reason)) {
            self.schedule(Purpose::Resumed, step.now);
        }
    }

    /// Ends without an answer, at the person's request.
    pub(super) fn stop_waiting(&mut self, step: &mut StepContext<'_>) -> TaskOutcome {
        let seconds = self.working_ms(step) / 1_000;
        self.abandon(
            step,
            &format!("left out at the user's request after {seconds} s"),
        )
    }

    /// Cancels the calls in flight. Returns whether there were any.
    pub(super) fn cancel_calls(&self, step: &mut StepContext<'_>, reason: CancelReason) -> bool {
        let Status::Calling(calling) = &self.status else {
            return false;
        };
        for attempt in &calling.attempts {
            attempt.cancel(step, reason);
        }
        true
    }

    /// Resumes after an interruption: calls in flight are lost, and made again, and an unanswered
    /// question is asked again.
    pub(super) fn resume(&mut self, step: &mut StepContext<'_>) -> Option<TaskOutcome> {
        if !self.is_announced {
            self.began = step.now;
            self.announce(step.plan, &mut step.emitter);
        }
        self.start_time_limit(step.plan, &mut step.emitter);
        match &self.status {
            Status::Pending { .. } => self.go(step),
            Status::Calling(calling) => {
                for attempt in &calling.attempts {
                    step.run.budget.write_off(attempt.call);
                }
                self.schedule(Purpose::Resumed, step.now);
                self.go(step)
            }
            Status::Asking(open) => {
                let open = open.clone();
                self.end_question(step);
                self.give_up(step, open.reason, open.error)
            }
        }
    }
}
