//! Ceilings that several consultations share: a suite's, a server's, the month's.

use std::sync::{Arc, Mutex, PoisonError};

use crate::consultation::policy::budget::BudgetCheck;
use crate::consultation::protocol::request::NotAdmitted;
use crate::domain::cost::money::{Cost, MicroUsd};

/// A ceiling above those of single consultations.
///
/// Invariant: as long as calls stay within their worst case, the sum of spent and reserved amounts
/// never exceeds the limit.
pub trait SharedBudget: Send + Sync + std::fmt::Debug {
    /// Returns the name in messages, such as `monthly budget`.
    fn name(&self) -> &str;

    /// Returns the limit, in micro-dollars.
    fn limit(&self) -> MicroUsd;

    /// Returns the spent amount in micro-dollars, without reserved amounts.
    fn spent(&self) -> MicroUsd;

    /// Reserves the worst case of a call if it fits. A lower bound never fits.
    fn reserve(&self, worst_case: Cost) -> BudgetCheck;

    /// Replaces a call's reserved amount by what it counts as. The next event of its consultation
    /// says that it finished, unless it was dropped and counts as much as was reserved.
    fn settle(&self, reserved: MicroUsd, actual: MicroUsd);

    /// Gives a reserved amount back: the call never went out.
    fn release(&self, reserved: MicroUsd) {
        self.settle(reserved, MicroUsd::ZERO);
    }

    /// Returns whether a person may agree to exceed it.
    fn may_be_overrun(&self) -> bool {
        false
    }

    /// Returns whether other processes draw on it, so that waiting requests must check it again by
    /// themselves.
    fn is_shared_with_others(&self) -> bool {
        false
    }
}

/// A ceiling over consultations of this process.
#[derive(Debug)]
pub struct SharedCeiling {
    name: String,
    limit: MicroUsd,
    amounts: Mutex<Amounts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Amounts {
    spent: MicroUsd,
    reserved: MicroUsd,
}

impl SharedCeiling {
    pub fn new(name: impl Into<String>, limit: MicroUsd) -> Self {
        Self {
            name: name.into(),
            limit,
            amounts: Mutex::default(),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Amounts) -> T) -> T {
        act(&mut self.amounts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl SharedBudget for SharedCeiling {
    fn name(&self) -> &str {
        &self.name
    }

    fn limit(&self) -> MicroUsd {
        self.limit
    }

    fn spent(&self) -> MicroUsd {
        self.with(|amounts| amounts.spent)
    }

    fn reserve(&self, worst_case: Cost) -> BudgetCheck {
        self.with(|amounts| {
            let left = self.limit.0.saturating_sub(amounts.spent.0);
            if worst_case.lower_bound || worst_case.known.0 > left {
                BudgetCheck::Exceeded
            } else if worst_case.known.0 > left.saturating_sub(amounts.reserved.0) {
                BudgetCheck::WaitForInFlight
            } else {
                amounts.reserved += worst_case.known;
                BudgetCheck::Allowed
            }
        })
    }

    fn settle(&self, reserved: MicroUsd, actual: MicroUsd) {
        self.with(|amounts| {
            amounts.reserved = MicroUsd(amounts.reserved.0.saturating_sub(reserved.0));
            amounts.spent += actual;
        });
    }
}

/// The amount reserved for one call in each budget. To be settled exactly once.
#[derive(Clone, Debug)]
pub(super) struct Reservations {
    budgets: Vec<Arc<dyn SharedBudget>>,
    /// The worst case of the call, or what a budget had left for it.
    pub(super) granted: Cost,
}

/// The reason why a call's worst case cannot be reserved.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BudgetRefusal {
    /// It fits once calls in flight have ended.
    Wait,
    /// It does not fit at all.
    Exceeded(NotAdmitted),
}

impl Reservations {
    /// Reserves the worst case of a call in every budget, or in none. Where one does not allow it
    /// at all, reserves what is left, if that is at least `least`.
    pub(super) fn reserve(
        budgets: &[Arc<dyn SharedBudget>],
        worst_case: Cost,
        least: Cost,
    ) -> Result<Self, BudgetRefusal> {
        let left =
            |budget: &Arc<dyn SharedBudget>| budget.limit().0.saturating_sub(budget.spent().0);
        let mut amount = worst_case;
        loop {
            let reserved = Self::reserve_all(budgets, amount);
            let Err(BudgetRefusal::Exceeded(_)) = reserved else {
                return reserved;
            };
            let left = budgets.iter().map(left).min().unwrap_or_default();
            if least.lower_bound || left < least.known.0 || amount.known.0 <= left {
                return reserved;
            }
            // Another process may spend of it before it is reserved.
            amount = Cost::exactly(MicroUsd(left));
        }
    }

    fn reserve_all(budgets: &[Arc<dyn SharedBudget>], amount: Cost) -> Result<Self, BudgetRefusal> {
        let mut reserved = Self {
            budgets: Vec::new(),
            granted: amount,
        };
        if amount == Cost::FREE {
            return Ok(reserved);
        }
        for budget in budgets {
            let refusal = match budget.reserve(amount) {
                BudgetCheck::Allowed => {
                    reserved.budgets.push(Arc::clone(budget));
                    continue;
                }
                BudgetCheck::WaitForInFlight => BudgetRefusal::Wait,
                BudgetCheck::Exceeded => BudgetRefusal::Exceeded(NotAdmitted::Budget {
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
        for budget in &self.budgets {
            budget.settle(self.granted.known, counted);
        }
    }

    /// Counts the reserved amounts as spent: the cost of the call will never be known.
    pub(super) fn write_off(&self) {
        self.settle(self.granted.known);
    }

    /// Gives the reserved amounts back: the call never went out.
    pub(super) fn release(&self) {
        for budget in &self.budgets {
            budget.release(self.granted.known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(amount: u64) -> Cost {
        Cost::exactly(MicroUsd(amount * 1_000_000))
    }

    #[test]
    fn worst_case_is_reserved_until_the_call_is_settled() {
        let ceiling = SharedCeiling::new("suite", MicroUsd(10_000_000));
        assert_eq!(ceiling.reserve(dollars(7)), BudgetCheck::Allowed);
        assert_eq!(ceiling.reserve(dollars(4)), BudgetCheck::WaitForInFlight);
        ceiling.settle(MicroUsd(7_000_000), MicroUsd(6_000_000));
        assert_eq!(ceiling.reserve(dollars(4)), BudgetCheck::Allowed);
        assert_eq!(ceiling.spent(), MicroUsd(6_000_000));
    }

    #[test]
    fn amount_above_the_rest_is_refused_at_once() {
        let ceiling = SharedCeiling::new("suite", MicroUsd(10_000_000));
        assert_eq!(ceiling.reserve(dollars(11)), BudgetCheck::Exceeded);
        assert_eq!(
            ceiling.reserve(Cost::at_least(MicroUsd(1))),
            BudgetCheck::Exceeded
        );
    }

    #[test]
    fn call_that_never_went_out_releases_its_amount() {
        let ceiling = SharedCeiling::new("suite", MicroUsd(10_000_000));
        assert_eq!(ceiling.reserve(dollars(10)), BudgetCheck::Allowed);
        ceiling.settle(MicroUsd(10_000_000), MicroUsd::ZERO);
        assert_eq!(ceiling.reserve(dollars(10)), BudgetCheck::Allowed);
    }

    fn ceilings() -> (Arc<SharedCeiling>, Arc<SharedCeiling>) {
        let ceiling = |name: &str, limit| Arc::new(SharedCeiling::new(name, MicroUsd(limit)));
        (ceiling("suite", 10), ceiling("month", 5))
    }

    #[test]
    fn a_budget_grants_what_it_has_left_if_that_is_enough() {
        let (suite, month) = ceilings();
        let budgets: [Arc<dyn SharedBudget>; 2] = [suite.clone(), month.clone()];
        let [worst_case, least] = [8, 4].map(|amount| Cost::exactly(MicroUsd(amount)));
        let reserved = Reservations::reserve(&budgets, worst_case, least).unwrap();
        assert_eq!(reserved.granted, Cost::exactly(MicroUsd(5)));
        let waits = Reservations::reserve(&budgets, worst_case, least).unwrap_err();
        assert_eq!(waits, BudgetRefusal::Wait, "until the first call has ended");
        reserved.settle(MicroUsd(2));
        assert_eq!([suite.spent(), month.spent()], [MicroUsd(2); 2]);
        let refused = Reservations::reserve(&budgets, worst_case, least).unwrap_err();
        assert!(matches!(refused, BudgetRefusal::Exceeded(_)), "{refused:?}");
    }

    /// A budget that another process spends of at each attempt to reserve.
    #[derive(Debug)]
    struct Shrinking(SharedCeiling);

    impl SharedBudget for Shrinking {
        fn name(&self) -> &str {
            self.0.name()
        }

        fn limit(&self) -> MicroUsd {
            self.0.limit()
        }

        fn spent(&self) -> MicroUsd {
            self.0.spent()
        }

        fn reserve(&self, worst_case: Cost) -> BudgetCheck {
            if self.spent() < MicroUsd(4) {
                self.0.settle(MicroUsd::ZERO, MicroUsd(1));
            }
            self.0.reserve(worst_case)
        }

        fn settle(&self, reserved: MicroUsd, actual: MicroUsd) {
            self.0.settle(reserved, actual);
        }
    }

    #[test]
    fn budget_that_shrinks_meanwhile_grants_what_is_left_in_the_end() {
        let shrinking = Arc::new(Shrinking(SharedCeiling::new("suite", MicroUsd(10))));
        let budgets: [Arc<dyn SharedBudget>; 1] = [shrinking.clone()];
        let [worst_case, least] = [20, 4].map(|amount| Cost::exactly(MicroUsd(amount)));
        let reserved = Reservations::reserve(&budgets, worst_case, least).unwrap();
        assert_eq!(reserved.granted, Cost::exactly(MicroUsd(6)));
        assert_eq!(shrinking.spent(), MicroUsd(4));
    }

    #[test]
    fn refusal_by_one_budget_reserves_in_none() {
        let (suite, month) = ceilings();
        let budgets: [Arc<dyn SharedBudget>; 2] = [suite.clone(), month];
        let reserve = |worst_case, least| {
            let [worst_case, least] =
                [worst_case, least].map(|amount| Cost::exactly(MicroUsd(amount)));
            Reservations::reserve(&budgets, worst_case, least)
        };
        let refused = reserve(6, 6).unwrap_err();
        assert!(matches!(
            refused,
            BudgetRefusal::Exceeded(NotAdmitted::Budget { budget, .. }) if budget == "month"
        ));
        assert_eq!(suite.spent(), MicroUsd::ZERO);
        assert_eq!(
            suite.reserve(Cost::exactly(MicroUsd(10))),
            BudgetCheck::Allowed
        );
    }
}
