//! The rule for errands of the clerk: they are optional. Whatever goes wrong with one, it is
//! settled without an answer and the consultation goes on as if it had never been begun.
//!
//! Such an errand is asked again once at most, is never stood in for, hedged, kept as prose or
//! asked about, and counts neither against `--strict`, `--on-failure` and the ceiling nor against
//! the provider that experts need too.

use crate::domain::ids::AgentId;
use std::time::Duration;

use crate::consultation::event::{AgentError, CancelReason};
use crate::consultation::machine::step::StepContext;
use crate::consultation::policy::budget::Room;
use crate::consultation::policy::pacing::Admission;
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::protocol::TimerId;
use crate::consultation::protocol::call::FailureClass;

use super::task::{AgentTask, Status, TaskOutcome, failed};

/// How long everybody else waits for the clerk, its retry included. A model on the user's own
/// machine may take its time: it is known to be slow, and nobody pays for the wait of another.
const PATIENCE: Duration = Duration::from_secs(30);

/// A wait before the one retry that is still worth it.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl AgentTask {
    /// Nothing is lost that anybody was promised when there is no answer.
    pub(crate) fn is_optional(&self) -> bool {
        self.agent == AgentId::Helper
    }

    /// From now on it is waited for, and not for ever.
    ///
    /// Invariant: called only in a turn that also says something, as every timer wants.
    pub(crate) fn begin_waiting(&mut self, step: &mut StepContext<'_>) {
        let is_hurried = self.is_optional() && !step.plan.terms(&self.current).free;
        self.patience = is_hurried.then(|| step.set_timer(step.now.after(PATIENCE)));
    }

    /// This timer says that it has been waited for long enough.
    pub(in crate::consultation) fn is_out_of_time_at(&self, timer: TimerId) -> bool {
        self.patience == Some(timer)
    }

    /// It has been waited for long enough.
    pub(in crate::consultation) fn run_out_of_time(
        &mut self,
        step: &mut StepContext<'_>,
    ) -> TaskOutcome {
        self.lose_patience(step, &format!("no answer within {} s", PATIENCE.as_secs()))
    }

    /// It is waited for no longer.
    pub(in crate::consultation) fn lose_patience(
        &mut self,
        step: &mut StepContext<'_>,
        why: &str,
    ) -> TaskOutcome {
        if let Status::Calling(calling) = &self.status {
            for attempt in calling.attempts.clone() {
                attempt.cancel(step, CancelReason::TooLate);
            }
        }
        self.settle(step, Err(failed(FailureClass::Timeout, why)))
    }

    /// Why an optional errand is not worth a call now. What only has to wait for its turn is no
    /// reason.
    pub(crate) fn obstacle(&self, step: &StepContext<'_>) -> Option<AgentError> {
        let provider = &self.current.provider;
        if !self.is_optional() {
            return None;
        }
        if step.is_no_use(provider) {
            return Some(failed(
                FailureClass::Overload,
                format!("`{provider}` has failed too often of late"),
            ));
        }
        if let Admission::Held(hold) = step.admit(provider) {
            return Some(failed(
                FailureClass::RateLimit,
                format!("`{provider}` wants to be left alone: {}", hold.reason),
            ));
        }
        let worst_case =
            step.worst_case(&self.current, &self.prompt(step, &self.current), self.room);
        let message = || "the ceiling leaves no room for it".to_owned();
        (step.room_for(worst_case) == Room::Never).then(|| failed(FailureClass::Billing, message()))
    }

    /// How often and how fast a failed call is made again.
    pub(crate) fn retry_rule(&self, step: &StepContext<'_>) -> RetryRule {
        let usual = step.plan.retry;
        if !self.is_optional() {
            return usual;
        }
        let most = if self.kept.is_none() {
            usual.most.min(1)
        } else {
            0
        };
        RetryRule {
            most,
            longest_hint: usual.longest_hint.min(LONGEST_WAIT),
            ..usual
        }
    }

    /// Whether a text that could not be used may be asked for once more.
    pub(crate) fn may_ask_again(&self) -> bool {
        !self.is_optional() || self.tried.retries == 0 && self.kept.is_none()
    }
}
