//! Decides whether a call may be made under the ceiling, and whether spending is still near the
//! estimate.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::{CallId, ProviderId};

/// The amount that counts as spent, and the worst case of the calls in flight.
///
/// A call counts as its worst case from the moment that it goes out, until its cost is known: for
/// ever if it is cancelled or lost. The log has both amounts, so that every later process counts
/// the same.
///
/// Invariant: as long as calls stay within their worst case, the amount spent and set aside never
/// exceeds the ceiling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub spent: MicroUsd,
    /// The worst case of each call in flight.
    set_aside: BTreeMap<CallId, MicroUsd>,
    /// The calls that plans pay for, from the moment that they go out: one that is lost has used
    /// the plan too.
    pub plan_calls: u32,
    /// Those that have billed a call beside the plan that pays for it.
    pub in_overage: BTreeSet<ProviderId>,
}

/// The decision on a call under the ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetCheck {
    Allowed,
    /// Not while other calls are in flight: they may cost less than their reservations.
    WaitForInFlight,
    Exceeded,
}

impl Budget {
    /// Returns what is neither spent nor set aside.
    pub fn left(&self, ceiling: MicroUsd) -> MicroUsd {
        let set_aside: MicroUsd = self.set_aside.values().copied().sum();
        MicroUsd(ceiling.0.saturating_sub(self.spent.0 + set_aside.0))
    }

    /// A call without a price is never within a ceiling.
    pub fn check(&self, worst_case: Cost, ceiling: MicroUsd) -> BudgetCheck {
        if worst_case == Cost::FREE {
            return BudgetCheck::Allowed;
        }
        let left = ceiling
            .0
            .checked_sub(self.spent.0)
            .filter(|_| !worst_case.lower_bound);
        let set_aside: MicroUsd = self.set_aside.values().copied().sum();
        match left {
            Some(left) if worst_case.known.0.saturating_add(set_aside.0) <= left => {
                BudgetCheck::Allowed
            }
            Some(left) if worst_case.known.0 <= left && set_aside > MicroUsd::ZERO => {
                BudgetCheck::WaitForInFlight
            }
            Some(_) | None => BudgetCheck::Exceeded,
        }
    }

    /// Returns whether a call may be made that a plan pays for. The cost of one in overage is known
    /// only afterwards: it may be made while the ceiling is not reached. What is in flight is paid
    /// for, and waited for before a limit stops anything.
    pub fn check_plan_call(
        &self,
        provider: &ProviderId,
        max_calls: u32,
        ceiling: Option<MicroUsd>,
    ) -> BudgetCheck {
        let is_reached = ceiling.is_some_and(|ceiling| self.spent >= ceiling);
        let is_over = is_reached && self.in_overage.contains(provider);
        if self.plan_calls < max_calls && !is_over {
            BudgetCheck::Allowed
        } else if self.set_aside.is_empty() {
            BudgetCheck::Exceeded
        } else {
            BudgetCheck::WaitForInFlight
        }
    }

    pub fn set_aside(&mut self, call: CallId, worst_case: Cost) {
        self.set_aside.insert(call, worst_case.known);
    }

    /// Replaces a call's reservation by what its cost counts as, and returns that: a partly known
    /// cost counts as the worst case.
    pub fn settle(&mut self, call: CallId, cost: Cost) -> MicroUsd {
        let worst_case = self.set_aside.remove(&call).filter(|_| cost.lower_bound);
        let counted = cost.known.max(worst_case.unwrap_or_default());
        self.spent += counted;
        counted
    }

    /// Counts a call whose cost will never be known at its worst case.
    pub fn write_off(&mut self, call: CallId) {
        self.spent += self.set_aside.remove(&call).unwrap_or_default();
    }
}

/// Returns whether spending exceeds one and a half times the high estimate. If a model has no
/// price, both are of the models that have one; an estimate without any priced part sets no limit.
pub fn exceeds(spent: MicroUsd, high: Cost) -> bool {
    let sets_a_limit = high != Cost::at_least(MicroUsd::ZERO);
    sets_a_limit && u128::from(spent.0) * 2 > u128::from(high.known.0) * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(micro: u64) -> Cost {
        Cost::exactly(MicroUsd(micro))
    }

    #[test]
    fn calls_count_at_their_worst_case_until_they_are_settled() {
        let mut budget = Budget::default();
        let ceiling = MicroUsd(100);
        assert_eq!(budget.check(exactly(60), ceiling), BudgetCheck::Allowed);
        budget.set_aside(CallId(1), exactly(60));
        assert_eq!(budget.check(exactly(40), ceiling), BudgetCheck::Allowed);
        let above = budget.check(exactly(41), ceiling);
        assert_eq!(above, BudgetCheck::WaitForInFlight);
        budget.settle(CallId(1), exactly(10));
        assert_eq!(budget.check(exactly(90), ceiling), BudgetCheck::Allowed);
        assert_eq!(budget.check(exactly(91), ceiling), BudgetCheck::Exceeded);
        assert_eq!(budget.spent, MicroUsd(10));
    }

    #[test]
    fn free_calls_are_always_allowed_and_unpriced_ones_never_under_a_ceiling() {
        let check = |cost, ceiling| Budget::default().check(cost, ceiling);
        let unpriced = Cost::at_least(MicroUsd(1));
        let high = MicroUsd(1_000_000);
        assert_eq!(check(Cost::FREE, MicroUsd::ZERO), BudgetCheck::Allowed);
        assert_eq!(check(unpriced, high), BudgetCheck::Exceeded);
    }

    #[test]
    fn a_lost_call_counts_at_its_worst_case() {
        let mut budget = Budget::default();
        budget.set_aside(CallId(1), exactly(60));
        budget.set_aside(CallId(2), Cost::FREE);
        budget.write_off(CallId(1));
        budget.write_off(CallId(2));
        assert_eq!(budget.spent, MicroUsd(60));
        let expected = BudgetCheck::Exceeded;
        assert_eq!(budget.check(exactly(41), MicroUsd(100)), expected);
    }

    #[test]
    fn a_partly_known_cost_counts_at_its_worst_case() {
        let mut budget = Budget::default();
        budget.set_aside(CallId(1), exactly(60));
        let counted = budget.settle(CallId(1), Cost::at_least(MicroUsd(5)));
        assert_eq!(counted, MicroUsd(60));
        budget.set_aside(CallId(2), exactly(60));
        let counted = budget.settle(CallId(2), Cost::at_least(MicroUsd(70)));
        assert_eq!(counted, MicroUsd(70));
        assert_eq!(budget.spent, MicroUsd(130));
    }

    #[test]
    fn spending_may_exceed_the_high_estimate_by_half() {
        for (spent, high, is_exceeded) in [
            (150, exactly(100), false),
            (151, exactly(100), true),
            (0, Cost::FREE, false),
            (1, Cost::FREE, true),
            (150, Cost::at_least(MicroUsd(100)), false),
            (151, Cost::at_least(MicroUsd(100)), true),
            (1_000, Cost::at_least(MicroUsd::ZERO), false),
        ] {
            assert_eq!(
                exceeds(MicroUsd(spent), high),
                is_exceeded,
                "{spent} {high}"
            );
        }
    }
}
