//! The amounts reserved for one call in every budget above its consultation's own.

use std::sync::Arc;

use crate::consultation::policy::budget::BudgetCheck;
use crate::consultation::protocol::request::NotAdmitted;
use crate::domain::money::{Cost, MicroUsd};

use super::budget::SharedBudget;

/// The amounts reserved for one call, by budget. To be settled exactly once.
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations(Vec<(Arc<dyn SharedBudget>, MicroUsd)>);

/// The reason why a call's worst case cannot be reserved.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// It fits once calls in flight have ended.
    Wait,
    /// It does not fit at all.
    Exceeded(NotAdmitted),
}

impl Reservations {
    /// Reserves the worst case of a call in every budget, or in none.
    pub(super) fn reserve(
        budgets: &[Arc<dyn SharedBudget>],
        worst_case: Cost,
    ) -> Result<Self, Refusal> {
        let mut reserved = Self::default();
        if worst_case == Cost::FREE {
            return Ok(reserved);
        }
        for budget in budgets {
            let refusal = match budget.reserve(worst_case) {
                BudgetCheck::Allowed => {
                    reserved.0.push((Arc::clone(budget), worst_case.known));
                    continue;
                }
                BudgetCheck::WaitForInFlight => Refusal::Wait,
                BudgetCheck::Exceeded => Refusal::Exceeded(NotAdmitted::Budget {
                    budget: budget.name().to_owned(),
                    limit: budget.limit(),
                    spent: budget.spent(),
                }),
            };
            reserved.release();
            return Err(refusal);
        }
        Ok(reserved)
    }

    /// Replaces the reserved amounts by what the call counts as.
    pub(super) fn settle(&self, counted: MicroUsd) {
        for (budget, reserved) in &self.0 {
            budget.settle(*reserved, counted);
        }
    }

    /// Counts the reserved amounts as spent: the cost of the call will never be known.
    pub(super) fn write_off(&self) {
        for (budget, reserved) in &self.0 {
            budget.settle(*reserved, *reserved);
        }
    }

    /// Gives the reserved amounts back: the call never went out.
    pub(super) fn release(&self) {
        self.settle(MicroUsd::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::dispatcher::budget::SharedCeiling;

    fn ceilings() -> (Arc<SharedCeiling>, Arc<SharedCeiling>) {
        let ceiling = |name: &str, limit| Arc::new(SharedCeiling::new(name, MicroUsd(limit)));
        (ceiling("suite", 10), ceiling("month", 5))
    }

    #[test]
    fn refusal_by_one_budget_reserves_in_none() {
        let (suite, month) = ceilings();
        let budgets: [Arc<dyn SharedBudget>; 2] = [suite.clone(), month];
        let refused = Reservations::reserve(&budgets, Cost::exactly(MicroUsd(6))).unwrap_err();
        assert!(matches!(
            refused,
            Refusal::Exceeded(NotAdmitted::Budget { budget, .. }) if budget == "month"
        ));
        assert_eq!(suite.spent(), MicroUsd::ZERO);
        assert_eq!(
            suite.reserve(Cost::exactly(MicroUsd(10))),
            BudgetCheck::Allowed
        );
    }
}
