//! Fits the output limit of a call to what a ceiling pays for.

use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::policy::budget::BudgetCheck;
use crate::domain::cost::money::Cost;
use crate::domain::ids::ModelRef;

/// The output limit of a call, and what that can cost at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    input: u64,
    /// The lowest limit that is worth a call.
    least: u64,
    pub(super) max_output_tokens: u64,
    pub(super) worst_case: Cost,
}

impl Fit {
    /// `limits` are the lowest output limit that is worth a call, and the usual one.
    pub(super) fn new(plan: &Plan, model: &ModelRef, input: u64, limits: (u64, u64)) -> Self {
        let (least, max_output_tokens) = limits;
        Self {
            input,
            least,
            max_output_tokens,
            worst_case: plan.worst_case(model, input, max_output_tokens),
        }
    }

    /// Returns the cost at most with the lowest limit.
    pub(super) fn least(self, plan: &Plan, model: &ModelRef) -> Cost {
        plan.worst_case(model, self.input, self.least)
    }

    /// Lowers the limit until the call costs no more than this, or the limit is the lowest.
    pub(super) fn within(self, plan: &Plan, model: &ModelRef, amount: Cost) -> Self {
        if self.worst_case.lower_bound || self.worst_case.known <= amount.known {
            return self;
        }
        let limits = (self.least, self.max_output_tokens);
        let max_output_tokens = plan.fitted_output(model, self.input, limits, amount.known);
        Self {
            max_output_tokens,
            worst_case: plan.worst_case(model, self.input, max_output_tokens),
            ..self
        }
    }
}

/// A call that a plan pays for is held by the number of these calls, and has no worst case.
pub(super) fn check_budget(
    step: &StepContext<'_>,
    model: &ModelRef,
    worst_case: Cost,
) -> BudgetCheck {
    let (control, budget) = (&step.plan.control, &step.run.budget);
    if step.plan.is_by_plan(model) {
        return budget.check_plan_call(&model.provider, control.max_calls, control.max_cost);
    }
    control.max_cost.map_or(BudgetCheck::Allowed, |ceiling| {
        budget.check(worst_case, ceiling)
    })
}
