//! How long a task waits for its model: one with limited effort (see [`TaskRules`]) has a time
//! limit and at most one more call; any other gives its model up when waiting for it is useless.
//!
//! [`TaskRules`]: super::rules::TaskRules

use std::time::Duration;

use crate::consultation::event::{AgentError, CancelReason, Purpose, WhySubstituted};
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::ModelRef;

use super::outcome::{TaskOutcome, failed};
use super::task::AgentTask;
use crate::consultation::policy::substitution::OnFailure;

/// The time limit, including a retry. A free model has none: it runs on the user's own machine and
/// is known to be slow.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The longest wait before a retry within the limit.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl AgentTask {
    /// Starts the time limit, if there is one.
    ///
    /// Invariant: called only in a step that also emits an event, as every timer requires.
    pub(crate) fn start_time_limit(&mut self, plan: &Plan, emitter: &mut Emitter<'_>) {
        let has_limit = self.rules.is_limited && !plan.terms(&self.current).free;
        self.time_limit = has_limit.then(|| emitter.set_timer(TIME_LIMIT));
    }

    /// Ends the task without an answer and drops its calls.
    pub(super) fn abandon(&mut self, step: &mut StepContext<'_>, why: &str) -> TaskOutcome {
        self.cancel_calls(step, CancelReason::TooLate);
        self.settle(step, Err(failed(FailureClass::Timeout, why)))
    }

    /// Returns the rule for retries.
    pub(crate) fn retry_rule(&self, usual: RetryRule) -> RetryRule {
        if !self.rules.is_limited {
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
        !self.rules.is_limited || self.tried.retries == 0 && self.saved_text.is_none()
    }

    /// Returns the reason why waiting for the model in use is useless; `None` if it is not. A
    /// provider that is not well is left to the experts: a task with limited effort does not wait.
    pub(super) fn reason_to_give_up(
        &self,
        step: &StepContext<'_>,
        purpose: Purpose,
    ) -> Option<(WhySubstituted, AgentError)> {
        let (provider, now) = (&self.current.provider, step.now);
        let (providers, retry) = (&step.run.providers, step.plan.retry);
        let is_limited = self.rules.is_limited;
        if is_limited || self.may_divert(step, purpose) {
            // A task that waited when the key was refused makes its own call: one refusal among
            // calls that are accepted is not worth the seats that wait.
            let refused_since = providers.key_refused_since(provider);
            if refused_since.is_some_and(|since| is_limited || since <= self.began) {
                let message = format!("`{provider}` refuses the key or asks for payment");
                let error = failed(FailureClass::Auth, message);
                return Some((WhySubstituted::Failure, error));
            }
            if providers.is_broken(provider, now) {
                let message = format!("`{provider}` has failed repeatedly");
                let error = failed(FailureClass::Overload, message);
                return Some((WhySubstituted::HealthCheck, error));
            }
        }
        let backoff = providers.backoff(provider, now)?;
        if !is_limited && !retry.is_too_long(backoff, now) {
            return None;
        }
        let why = if let Some(refused_for) = retry.given_up(backoff, now) {
            let seconds = refused_for.as_secs_f64();
            format!("has refused every call for {seconds:.0} s")
        } else {
            let pause = backoff.until.since(now).as_secs_f64().ceil();
            format!("asks for a pause of {pause} s")
        };
        let message = format!("{}; `{provider}` {why}", backoff.reason);
        let error = failed(FailureClass::RateLimit, message);
        Some((WhySubstituted::Failure, error))
    }

    /// Returns whether a new attempt may go to another model without a call to this one. The last
    /// model is never given up this way.
    fn may_divert(&self, step: &StepContext<'_>, purpose: Purpose) -> bool {
        let is_new = match purpose {
            Purpose::Answer | Purpose::Fallback | Purpose::Hedge | Purpose::Resumed => true,
            Purpose::Retry | Purpose::Reformed | Purpose::MoreRoom | Purpose::Repair => false,
        };
        let (providers, now) = (&step.run.providers, step.now);
        let elsewhere = |model: &ModelRef| {
            model.provider != self.current.provider && !providers.is_no_use(&model.provider, now)
        };
        let control = &step.plan.control;
        let may_be_replaced = !control.strict
            && match control.on_failure {
                OnFailure::Ask | OnFailure::Substitute => true,
                OnFailure::Skip => self.rules.ignores_skip(),
                OnFailure::Fail => false,
            };
        is_new && may_be_replaced && self.rest.iter().any(elsewhere)
    }
}
