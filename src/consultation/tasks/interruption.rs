//! Interrupts a task and resumes it.

use crate::consultation::event::{AbortReason, CancelReason, Purpose};
use crate::consultation::machine::step::StepContext;
use crate::domain::ids::CallId;

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

    /// Resumes after an interruption: lost calls are made again, and an unanswered question is
    /// asked again.
    pub(super) fn resume(
        &mut self,
        step: &mut StepContext<'_>,
        lost: &[CallId],
    ) -> Option<TaskOutcome> {
        let hedge_delay = self.hedge_delay(step.plan);
        if !self.is_announced {
            self.began = step.now;
            self.announce(step.plan, &mut step.emitter);
        }
        self.start_time_limit(step.plan, &mut step.emitter);
        match &mut self.status {
            Status::Pending { .. } => self.go(step),
            Status::Calling(calling) => {
                let (gone, here): (Vec<_>, Vec<_>) = calling
                    .attempts
                    .drain(..)
                    .partition(|attempt| lost.contains(&attempt.call));
                calling.attempts = here;
                for attempt in gone {
                    step.run.budget.write_off(attempt.call);
                }
                // A call that is not lost goes out only now: the process ended after logging it and
                // before making it.
                for attempt in &mut calling.attempts {
                    attempt.since = step.now;
                }
                if calling.attempts.is_empty() {
                    self.schedule(Purpose::Resumed, step.now);
                } else if calling.hedge_timer.is_some() {
                    calling.hedge_timer = hedge_delay.map(|delay| step.emitter.set_timer(delay));
                }
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
