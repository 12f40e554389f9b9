//! Requests the next call of a task, and handles the decision on it: made, left out, or stopped by
//! a ceiling.

use crate::consultation::event::{AbortReason, CeilingReached, CostEvent, Event};
use crate::consultation::machine::Effect;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::policy::budget::BudgetCheck;
use crate::consultation::protocol::call::FailureClass;
use crate::consultation::protocol::request::{CallRequest, NotAdmitted, RequestKey, RequestOption};
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::money::{Cost, MicroUsd};

use super::outcome::{CallsInFlight, Status, TaskOutcome, failed};
use super::task::AgentTask;

impl AgentTask {
    /// Requests the call that is due, if its time has come, or renews an offer to the person.
    pub(super) fn go(&mut self, step: &mut StepContext<'_>) -> Option<TaskOutcome> {
        if self.is_asking() {
            return self.renew_offer(step);
        }
        let Status::Pending {
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
        let max_output_tokens = self.max_output_tokens;
        match self.check_budget(step, &self.current, max_output_tokens) {
            BudgetCheck::Allowed => step.emitter.push(Effect::Request(Box::new(CallRequest {
                key: RequestKey::Attempt {
                    agent: self.agent.clone(),
                    answer: self.answer,
                },
                options: vec![self.request_option(step.plan, &self.current, max_output_tokens)],
                beyond_month: step.run.beyond_month,
            }))),
            BudgetCheck::WaitForInFlight => {}
            BudgetCheck::Exceeded if self.rules.counts => {
                let max_cost = step.plan.control.max_cost.unwrap_or_default();
                let spent = Cost::exactly(step.run.budget.spent);
                self.stop_at_ceiling(step, max_cost, spent, None);
            }
            BudgetCheck::Exceeded => return Some(self.leave_out(step)),
        }
        None
    }

    /// Makes the requested call, unless the situation has changed since the request.
    pub(super) fn admitted(&mut self, step: &mut StepContext<'_>, provider: &ProviderId) {
        let Status::Pending {
            purpose,
            not_before,
        } = self.status
        else {
            return;
        };
        let max_output_tokens = self.max_output_tokens;
        let is_stale = *provider != self.current.provider
            || step.is_stopping()
            || not_before > step.now
            || self.check_budget(step, &self.current, max_output_tokens) != BudgetCheck::Allowed;
        if is_stale {
            return;
        }
        let attempt = self.call(step, &self.current, max_output_tokens, purpose);
        let hedge_timer = self
            .hedge_delay(step.plan)
            .map(|delay| step.emitter.set_timer(delay));
        self.status = Status::Calling(CallsInFlight {
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
        if !matches!(self.status, Status::Pending { .. }) || step.is_stopping() {
            return None;
        }
        if !self.rules.counts {
            return Some(self.leave_out(step));
        }
        self.stop_at_ceiling(step, limit, Cost::exactly(spent), Some(budget));
        None
    }

    /// Returns whether a decision under this key is for this task.
    pub(super) fn requests(&self, key: &RequestKey) -> bool {
        match key {
            RequestKey::Attempt { agent, answer } => self.agent == *agent && self.answer == *answer,
            RequestKey::Hedge { agent } => self.agent == *agent,
        }
    }

    pub(super) fn request_option(
        &self,
        plan: &Plan,
        model: &ModelRef,
        max_output_tokens: u64,
    ) -> RequestOption {
        RequestOption {
            provider: model.provider.clone(),
            worst_case: self.worst_case(plan, model, max_output_tokens),
        }
    }

    fn worst_case(&self, plan: &Plan, model: &ModelRef, max_output_tokens: u64) -> Cost {
        plan.worst_case(model, &self.prompt(plan, model), max_output_tokens)
    }

    /// Decides whether a call may be made under the consultation's ceiling.
    pub(super) fn check_budget(
        &self,
        step: &StepContext<'_>,
        model: &ModelRef,
        max_output_tokens: u64,
    ) -> BudgetCheck {
        let Some(ceiling) = step.plan.control.max_cost else {
            return BudgetCheck::Allowed;
        };
        let worst_case = self.worst_case(step.plan, model, max_output_tokens);
        step.run.budget.check(worst_case, ceiling)
    }

    /// Ends without an answer, because a ceiling does not allow the call.
    fn leave_out(&self, step: &mut StepContext<'_>) -> TaskOutcome {
        let too_dear = failed(FailureClass::Billing, "the ceiling does not allow it");
        self.settle(step, Err(too_dear))
    }

    /// Ends the consultation because a ceiling does not allow the next call. `budget` is the
    /// ceiling's name if it is not the consultation's own.
    fn stop_at_ceiling(
        &self,
        step: &mut StepContext<'_>,
        max_cost: MicroUsd,
        spent: Cost,
        budget: Option<String>,
    ) {
        let worst_case = self.worst_case(step.plan, &self.current, self.max_output_tokens);
        let at_most = if worst_case.lower_bound {
            "has no price".to_owned()
        } else {
            format!("could cost up to {worst_case:.4}")
        };
        let message = format!(
            "The {} of {max_cost:.2} is reached: {spent:.4} counts as spent, and the next call, to \
             {}, {at_most}",
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
