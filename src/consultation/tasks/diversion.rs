//! Decides whether a task gives its model up before calling it, because the provider is not worth
//! waiting for.

use crate::consultation::event::{AgentError, Purpose, WhySubstituted};
use crate::consultation::machine::step::StepContext;
use crate::consultation::policy::substitution::OnFailure;
use crate::consultation::protocol::call::FailureClass;
use crate::domain::ids::ModelRef;

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
        if self.is_diverted(step, purpose) {
            let message = format!("`{provider}` has failed repeatedly");
            return Some((
                WhySubstituted::HealthCheck,
                failed(FailureClass::Overload, message),
            ));
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

    /// Returns whether a new attempt goes to another model because this provider's circuit is open.
    /// The last model is never given up this way.
    fn is_diverted(&self, step: &StepContext<'_>, purpose: Purpose) -> bool {
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
        is_new
            && may_be_replaced
            && providers.is_broken(&self.current.provider, now)
            && self.rest.iter().any(elsewhere)
    }
}
