//! Limited effort for a task (see [`Effort::Limited`]): a time limit, at most one more call, and no
//! waiting for its provider.
//!
//! [`Effort::Limited`]: super::rules::Effort::Limited

use std::time::Duration;

use crate::consultation::event::{AgentError, CancelReason};
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::policy::budget::BudgetCheck;
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::TimerId;

use super::diversion::{failing_repeatedly, refused_key};
use super::outcome::{AgentAnswer, TaskOutcome, failed};
use super::task::AgentTask;

/// The time limit, including a retry. A free model has none: it runs on the user's own machine and
/// is known to be slow.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The longest wait before a retry within the limit.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl AgentTask {
    /// Starts the time limit, if there is one.
    ///
    /// Invariant: called only in a step that also emits an event, as every timer requires.
    pub(crate) fn start_time_limit(&mut self, plan: &Plan, emitter: &mut Emitter<'_>) {
        let has_limit = self.rules.is_limited() && !plan.terms(&self.current).free;
        self.time_limit = has_limit.then(|| emitter.set_timer(TIME_LIMIT));
    }

    /// Returns whether this timer ends the time limit.
    pub(super) fn is_out_of_time_at(&self, timer: TimerId) -> bool {
        self.time_limit == Some(timer)
    }

    /// Ends the task at its time limit.
    pub(super) fn run_out_of_time(&mut self, step: &mut StepContext<'_>) -> TaskOutcome {
        self.abandon(
            step,
            &format!("no answer within {} s", TIME_LIMIT.as_secs()),
        )
    }

    /// Ends the task without an answer and drops its calls.
    pub(super) fn abandon(&mut self, step: &mut StepContext<'_>, why: &str) -> TaskOutcome {
        self.cancel_calls(step, CancelReason::TooLate);
        self.settle(step, Err(failed(FailureClass::Timeout, why)))
    }

    /// Ends the task with this answer and drops its calls.
    pub(super) fn end_with(&self, step: &mut StepContext<'_>, answer: AgentAnswer) -> TaskOutcome {
        self.cancel_calls(step, CancelReason::TooLate);
        self.settle(step, Ok(answer))
    }

    /// Returns the reason why a task with limited effort makes no call now. A provider that is
    /// merely busy is not a reason.
    pub(crate) fn obstacle(&self, step: &StepContext<'_>) -> Option<AgentError> {
        let provider = &self.current.provider;
        if !self.rules.is_limited() {
            return None;
        }
        let providers = &step.run.providers;
        if providers.refuses_key(provider) {
            return Some(refused_key(provider));
        }
        if providers.is_broken(provider, step.now) {
            return Some(failing_repeatedly(provider));
        }
        if let Some(backoff) = providers.backoff(provider, step.now) {
            let message = format!("`{provider}` asks for a pause: {}", backoff.reason);
            return Some(failed(FailureClass::RateLimit, message));
        }
        (self.check_budget(step, &self.current, self.max_output_tokens) == BudgetCheck::Exceeded)
            .then(|| failed(FailureClass::Billing, "the ceiling does not allow it"))
    }

    /// Returns the rule for retries.
    pub(crate) fn retry_rule(&self, usual: RetryRule) -> RetryRule {
        if !self.rules.is_limited() {
            return usual;
        }
        let most = if self.saved_text.is_none() {
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

    /// Returns whether an unusable answer may be requested once more.
    pub(crate) fn may_ask_again(&self) -> bool {
        !self.rules.is_limited() || self.tried.retries == 0 && self.saved_text.is_none()
    }
}
