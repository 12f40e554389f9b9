//! Decides whether a task gives its model up before calling it, because the provider is not worth
//! waiting for.

use crate::consultation::event::{AgentError, Purpose, WhySubstituted};
use crate::consultation::machine::step::StepContext;
use crate::consultation::policy::substitution::OnFailure;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::{ModelRef, ProviderId};

use super::outcome::failed;
use super::task::AgentTask;

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
pub(super) fn failing_repeatedly(provider: &ProviderId) -> AgentError {
    let message = format!("`{provider}` has failed repeatedly");
    failed(FailureClass::Overload, message)
}

/// Returns the error for a provider that has refused the key in an earlier call.
pub(super) fn refused_key(provider: &ProviderId) -> AgentError {
    let message = format!("`{provider}` refuses the key or asks for payment");
    failed(FailureClass::Auth, message)
}
