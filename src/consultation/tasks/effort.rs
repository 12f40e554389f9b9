//! How long a task waits for its model: one with limited effort (see [`Effort::Limited`]) has a time
//! limit and at most one more call; any other gives its model up when waiting for it is useless.
//!
//! [`Effort::Limited`]: super::rules::Effort::Limited

use std::time::Duration;

use crate::consultation::event::{AgentError, CancelReason, Purpose, WhySubstituted};
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::{ModelRef, ProviderId};

use super::outcome::{AgentAnswer, TaskOutcome, failed};
use super::task::AgentTask;
use crate::consultation::policy::substitution::OnFailure;

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
    pub(super) fn obstacle(&self, step: &StepContext<'_>) -> Option<AgentError> {
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
        let backoff = providers.backoff(provider, step.now)?;
        let message = format!("`{provider}` asks for a pause: {}", backoff.reason);
        Some(failed(FailureClass::RateLimit, message))
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

impl AgentTask {
    /// Returns the reason why waiting for the model in use is useless; `None` if it is not.
    pub(super) fn reason_to_give_up(
        &self,
        step: &StepContext<'_>,
        purpose: Purpose,
    ) -> Option<(WhySubstituted, AgentError)> {
        let provider = &self.current.provider;
        if self.may_divert(step, purpose) {
            // A task that waited when the key was refused makes its own call: one refusal among
            // calls that are accepted is not worth the seats that wait.
            let refused_since = step.run.providers.key_refused_since(provider);
            if refused_since.is_some_and(|since| since <= self.began) {
                return Some((WhySubstituted::Failure, refused_key(provider)));
            }
            if step.run.providers.is_broken(provider, step.now) {
                let error = failing_repeatedly(provider);
                return Some((WhySubstituted::HealthCheck, error));
            }
        }
        let (retry, now) = (step.plan.retry, step.now);
        let backoff = step.run.providers.backoff(provider, now);
        let backoff = backoff.filter(|backoff| retry.is_too_long(backoff, now))?;
        let why = match retry.given_up(backoff, now) {
            Some(refused_for) => format!(
                "has refused every call for {:.0} s",
                refused_for.as_secs_f64()
            ),
            None => format!(
                "asks for a pause of {} s",
                backoff.until.since(now).as_secs_f64().ceil()
            ),
        };
        let message = format!("{}; `{provider}` {why}", backoff.reason);
        Some((
            WhySubstituted::Failure,
            failed(FailureClass::RateLimit, message),
        ))
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

/// Returns the error for a provider whose circuit is open.
fn failing_repeatedly(provider: &ProviderId) -> AgentError {
    let message = format!("`{provider}` has failed repeatedly");
    failed(FailureClass::Overload, message)
}

/// Returns the error for a provider that has refused the key in an earlier call.
fn refused_key(provider: &ProviderId) -> AgentError {
    let message = format!("`{provider}` refuses the key or asks for payment");
    failed(FailureClass::Auth, message)
}
