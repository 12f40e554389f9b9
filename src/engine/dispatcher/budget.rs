//! Ceilings that several consultations share: a suite's, a server's, the month's.

use std::sync::{Mutex, PoisonError};

use crate::consultation::policy::budget::BudgetCheck;
use crate::domain::money::{Cost, MicroUsd};

/// A ceiling above those of single consultations.
///
/// Invariant: as long as calls stay within their worst case, what is spent and set aside never
/// exceeds the limit.
pub trait SharedBudget: Send + Sync + std::fmt::Debug {
    /// Its name for people: `monthly budget`.
    fn name(&self) -> &str;

    /// The limit, in micro-dollars.
    fn limit(&self) -> MicroUsd;

    /// What has been spent of it, in micro-dollars, without what is set aside.
    fn spent(&self) -> MicroUsd;

    /// Sets the worst case of a call aside, if it fits. A lower bound never does.
    fn reserve(&self, worst_case: Cost) -> BudgetCheck;

    /// Turns what was set aside for a call into what it cost; nothing for one that never went out.
    fn settle(&self, reserved: MicroUsd, actual: MicroUsd);

    /// Whether a person may agree to go beyond it.
    fn may_be_overrun(&self) -> bool {
        false
    }

    /// Whether others than this process draw on it, so that a request that waits has to look again
    /// by itself.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(amount: u64) -> Cost {
        Cost::exactly(MicroUsd(amount * 1_000_000))
    }

    #[test]
    fn a_worst_case_is_set_aside_until_the_call_is_settled() {
        let ceiling = SharedCeiling::new("suite", MicroUsd(10_000_000));
        assert_eq!(ceiling.reserve(dollars(7)), BudgetCheck::Allowed);
        assert_eq!(ceiling.reserve(dollars(4)), BudgetCheck::WaitForInFlight);
        ceiling.settle(MicroUsd(7_000_000), MicroUsd(6_000_000));
        assert_eq!(ceiling.reserve(dollars(4)), BudgetCheck::Allowed);
        assert_eq!(ceiling.spent(), MicroUsd(6_000_000));
    }

    #[test]
    fn what_can_never_fit_is_refused_at_once() {
        let ceiling = SharedCeiling::new("suite", MicroUsd(10_000_000));
        assert_eq!(ceiling.reserve(dollars(11)), BudgetCheck::Exceeded);
        assert_eq!(
            ceiling.reserve(Cost::at_least(MicroUsd(1))),
            BudgetCheck::Exceeded
        );
    }

    #[test]
    fn a_call_that_never_went_out_leaves_nothing_behind() {
        let ceiling = SharedCeiling::new("suite", MicroUsd(10_000_000));
        assert_eq!(ceiling.reserve(dollars(10)), BudgetCheck::Allowed);
        ceiling.settle(MicroUsd(10_000_000), MicroUsd::ZERO);
        assert_eq!(ceiling.reserve(dollars(10)), BudgetCheck::Allowed);
    }
}
