//! Requests the next call of a task, and handles the decision on it: made, left out, or stopped by
//! a ceiling.
//!
//! A task with limited effort (see [`TaskRules`](super::task::TaskRules)) has a time limit and at
//! most one more call; any other gives its model up when waiting for it is useless.

use std::time::Duration;

use crate::consultation::event::{
    AbortReason, AgentError, CancelReason, CeilingReached, CostEvent, Event, Purpose,
    WhySubstituted,
};
use crate::consultation::machine::Effect;
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::policy::budget::BudgetCheck;
use crate::consultation::policy::retry::RetryRule;
use crate::consultation::policy::substitution::OnFailure;
use crate::consultation::protocol::call::FailureClass;
use crate::consultation::protocol::request::{CallRequest, NotAdmitted, RequestKey, RequestOption};
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::model::billing::Billing;
use crate::domain::words::span;

use super::fit::{Fit, check_budget};
use super::outcome::{CallsInFlight, TaskOutcome, TaskStatus, failed};
use super::task::AgentTask;

/// The time limit, including a retry. A free model has none: it runs on the user's own machine and
/// is known to be slow.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The longest wait before a retry within the limit.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl AgentTask {
    /// Requests the call that is due, if its time has come, or renews an offer to the person.
    pub(super) fn go(&mut self, step: &mut StepContext<'_>) -> Option<TaskOutcome> {
        if self.is_asking() {
            return self.renew_offer(step);
        }
        let TaskStatus::Pending {
            purpose,
            not_before,
        } = self.status
        else {
            return None;
        };
        if step.is_stopping() || not_before > step.now {
            return None;
        }
        if let Some((why, error)) = self.reason_to_give_up(step, purpose) {
            return self.give_up(step, why, error);
        }
        match check_budget(
            step,
            &self.current,
            self.fit(step, &self.current).worst_case,
        ) {
            BudgetCheck::Allowed => {
                let (agent, answer) = (self.agent.clone(), self.answer);
                let key = RequestKey::Attempt { agent, answer };
                self.request(step, key, std::slice::from_ref(&self.current));
            }
            BudgetCheck::WaitForInFlight => {}
            BudgetCheck::Exceeded if self.rules.counts && self.saved_text.is_none() => {
                let control = &step.plan.control;
                let is_by_plan = step.plan.is_by_plan(&self.current);
                if is_by_plan && step.run.budget.plan_calls >= control.max_calls {
                    self.stop_at_max_calls(step);
                    return None;
                }
                let max_cost = control.max_cost.unwrap_or_default();
                let spent = Cost::exactly(step.run.budget.spent);
                self.stop_at_ceiling(step, max_cost, spent, None);
            }
            BudgetCheck::Exceeded => return Some(self.leave_out(step)),
        }
        None
    }

    /// Makes the requested call, unless the situation has changed since the request.
    pub(super) fn admitted(
        &mut self,
        step: &mut StepContext<'_>,
        provider: &ProviderId,
        granted: Cost,
    ) {
        let TaskStatus::Pending {
            purpose,
            not_before,
        } = self.status
        else {
            return;
        };
        let fit = self
            .fit(step, &self.current)
            .within(step.plan, &self.current, granted);
        let is_stale = *provider != self.current.provider
            || not_before > step.now
            || check_budget(step, &self.current, fit.worst_case) != BudgetCheck::Allowed;
        if is_stale {
            return;
        }
        let attempt = self.call(step, &self.current, purpose, fit);
        let hedge_timer = self
            .hedge_delay(step.plan)
            .map(|delay| step.emitter.set_timer(delay));
        self.status = TaskStatus::Calling(CallsInFlight {
            attempts: vec![attempt],
            hedge_timer,
            first_outcome: None,
        });
    }

    /// Handles a request refused by a ceiling above the consultation's own.
    pub(super) fn refused(
        &mut self,
        step: &mut StepContext<'_>,
        reason: NotAdmitted,
    ) -> Option<TaskOutcome> {
        let NotAdmitted::Budget {
            budget,
            limit,
            spent,
        } = reason
        else {
            return None;
        };
        if !matches!(self.status, TaskStatus::Pending { .. }) {
            return None;
        }
        if !self.rules.counts || self.saved_text.is_some() {
            return Some(self.leave_out(step));
        }
        self.stop_at_ceiling(step, limit, Cost::exactly(spent), Some(budget));
        None
    }

    pub(super) fn requests(&self, key: &RequestKey) -> bool {
        match key {
            RequestKey::Attempt { agent, answer } => self.agent == *agent && self.answer == *answer,
            RequestKey::Hedge { agent } => self.agent == *agent,
        }
    }

    /// Requests a call to one of the models, the first that has a place.
    pub(super) fn request(&self, step: &mut StepContext<'_>, key: RequestKey, models: &[ModelRef]) {
        let options = models.iter().map(|model| {
            let fit = self.fit(step, model);
            RequestOption {
                provider: model.provider.clone(),
                worst_case: fit.worst_case,
                least: fit.least(step.plan, model),
            }
        });
        let request = CallRequest {
            key,
            options: options.collect(),
            beyond_month: step.run.beyond_month,
        };
        step.emitter.push(Effect::Request(Box::new(request)));
    }

    /// Returns the output limit of a call without a ceiling.
    pub(super) fn usual_limit(&self, plan: &Plan, model: &ModelRef) -> u64 {
        self.max_output_tokens.min(plan.terms(model).output_limit)
    }

    /// Fits the next call to what is left of the ceiling.
    pub(super) fn fit(&self, step: &StepContext<'_>, model: &ModelRef) -> Fit {
        let plan = step.plan;
        let input = plan.worst_input(&self.prompt(plan, model), self.answer);
        let most = self.usual_limit(plan, model);
        // What was cut off needs half as much room again, to be worth a second call.
        let least = plan
            .least_output(model, self.answer)
            .max(self.cut_at / 2 * 3);
        let fit = Fit::new(plan, model, input, (least.min(most), most));
        let Some(ceiling) = plan.control.max_cost else {
            return fit;
        };
        let left = step.run.budget.left(ceiling);
        let least = fit.least(plan, model).known;
        let share = step
            .run
            .upcoming
            .share(left, &self.agent, self.answer, least);
        fit.within(plan, model, Cost::exactly(share))
    }

    /// Ends with the answer that it has, or without one, because a ceiling does not allow the call.
    fn leave_out(&mut self, step: &mut StepContext<'_>) -> TaskOutcome {
        if let Some(answer) = self.take_saved_answer(step.plan) {
            return self.settle(step, Ok(answer));
        }
        let too_dear = failed(FailureClass::Billing, "the ceiling does not allow it");
        self.settle(step, Err(too_dear))
    }

    fn stop_at_max_calls(&self, step: &mut StepContext<'_>) {
        let max_calls = step.plan.control.max_calls;
        let message = format!(
            "The limit of {max_calls} calls that a plan pays for is reached, and {} would be one \
             more",
            self.current,
        );
        step.stop(AbortReason::CallCeiling, message);
    }

    /// `budget` is the ceiling's name if it is not the consultation's own.
    fn stop_at_ceiling(
        &self,
        step: &mut StepContext<'_>,
        max_cost: MicroUsd,
        spent: Cost,
        budget: Option<String>,
    ) {
        let worst_case = self.fit(step, &self.current).worst_case;
        let at_most = if step.plan.is_by_plan(&self.current) {
            "is billed beside its plan".to_owned()
        } else if worst_case.lower_bound {
            "has no price".to_owned()
        } else {
            format!("could cost up to {worst_case:.4}")
        };
        let spent_so_far = match spent {
            // Calls before it may have had no price either.
            Cost::FREE if worst_case.lower_bound => "nothing is known to be spent".to_owned(),
            Cost::FREE => "nothing was spent".to_owned(),
            spent => format!("{spent} counts as spent"),
        };
        let message = format!(
            "The {} of {max_cost:.2} does not pay for the next call: {spent_so_far}, and {} \
             {at_most}",
            budget.as_deref().unwrap_or("ceiling"),
            self.current,
        );
        step.emit(Event::Cost(CostEvent::CeilingReached(CeilingReached {
            max_cost,
            spent,
            agent_id: self.agent.clone(),
            model: self.current.clone(),
            worst_case,
            answer: budget.is_some().then_some(self.answer),
            budget,
        })));
        step.stop(AbortReason::CostCeiling, message);
    }
}

impl AgentTask {
    /// Starts the time limit, if there is one.
    ///
    /// Invariant: called only in a step that also emits an event, as every timer requires.
    pub(crate) fn start_time_limit(&mut self, plan: &Plan, emitter: &mut Emitter<'_>) {
        let has_limit = self.rules.is_limited && plan.terms(&self.current).billing != Billing::Free;
        self.time_limit = has_limit.then(|| emitter.set_timer(TIME_LIMIT));
    }

    /// Ends the task without an answer and drops its calls.
    pub(super) fn abandon(&mut self, step: &mut StepContext<'_>, why: &str) -> TaskOutcome {
        self.cancel_calls(step, CancelReason::TooLate);
        self.settle(step, Err(failed(FailureClass::Timeout, why)))
    }

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

    pub(crate) fn may_ask_again(&self) -> bool {
        !self.rules.is_limited || self.tried.retries == 0 && self.saved_text.is_none()
    }

    /// `None` if it is not. A provider that is not well is left to the experts: a task with limited
    /// effort does not wait.
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
                let message = if step.plan.is_by_plan(&self.current) {
                    format!("`{provider}` is not logged in")
                } else {
                    format!("`{provider}` refuses the key or asks for payment")
                };
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
            let pause = span(backoff.until.since(now));
            format!("asks for a pause of {pause}")
        };
        let message = format!("{}; `{provider}` {why}", backoff.reason);
        let class = if step.plan.is_by_plan(&self.current) {
            FailureClass::Quota
        } else {
            FailureClass::RateLimit
        };
        let error = failed(class, message);
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
