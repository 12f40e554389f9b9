//! The month's budget of a home as a ceiling over a run's calls, shared with every other process of
//! the home.
//!
//! A call is reserved before it goes out and settled when its cost is known; the budget learns
//! which of the two amounts the journal already holds. When the budget's files fail, no call fits
//! any more, because the spending of other processes is unknown.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use jiff::tz::TimeZone;

use crate::config::paths::Home;
use crate::consultation::event::{CallEvent, CallStarted, Envelope, Event};
use crate::consultation::plan::Control;
use crate::consultation::policy::budget::BudgetCheck;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::CallId;
use crate::domain::time::Timestamp;
use crate::engine::dispatcher::budget::SharedBudget;
use crate::engine::ports::{Subscriber, SubscriberError};
use crate::error::Error;
use crate::records::journal::Journal;
use crate::records::month::budget::{MonthBudget, MonthBudgetError};
use crate::records::month::spent_in_month;
use crate::records::statistics::calendar::date_of;

/// The month's budget, shared by the processes of a home.
#[derive(Debug)]
pub struct MonthCeiling {
    budget: MonthBudget,
    /// The first failure of its files.
    failure: OnceLock<MonthBudgetError>,
}

impl MonthCeiling {
    /// Its name in messages and events.
    pub const NAME: &'static str = "monthly budget";

    /// Opens the budget that a run is under; `None` without one.
    ///
    /// # Errors
    ///
    /// When the budget's files cannot be used: then no call could be kept within it.
    pub fn open(
        home: &Home,
        control: &Control,
        now: Timestamp,
    ) -> Result<Option<Arc<Self>>, Error> {
        let Some(month) = control.consent.month else {
            return Ok(None);
        };
        let zone = TimeZone::system();
        let spent = || spent_in_month(&home.logs_folder(), now, &zone);
        let budget = MonthBudget::open(home.path(), date_of(now, &zone), month.budget, spent)
            .map_err(|failure| {
                Error::usage(failure)
                    .hint("or remove the budget with `conclave config unset monthly_budget`")
            })?;
        Ok(Some(Arc::new(Self {
            budget,
            failure: OnceLock::new(),
        })))
    }

    /// Returns the first failure of the budget's files, for the user.
    pub fn warning(&self) -> Option<String> {
        let failure = self.failure.get()?;
        Some(format!("the monthly budget cannot be tracked: {failure}"))
    }

    /// Counts the cost in a journal that another home's process wrote: those that have read the
    /// journals before do not know it.
    pub(super) fn count_journal(&self, cost: MicroUsd) {
        self.keep_failure(self.budget.settle(MicroUsd::ZERO, cost));
        self.keep_failure(self.budget.recorded(cost));
    }

    /// Returns the value of a success.
    fn keep_failure<T>(&self, result: Result<T, MonthBudgetError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(failure) => {
                // Fails for all but the first.
                let _ = self.failure.set(failure);
                None
            }
        }
    }
}

impl SharedBudget for MonthCeiling {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn limit(&self) -> MicroUsd {
        self.budget.limit
    }

    fn spent(&self) -> MicroUsd {
        self.keep_failure(self.budget.spent()).unwrap_or_default()
    }

    fn reserve(&self, worst_case: Cost) -> BudgetCheck {
        if worst_case.lower_bound {
            return BudgetCheck::Exceeded;
        }
        self.keep_failure(self.budget.reserve(worst_case.known))
            .unwrap_or(BudgetCheck::Exceeded)
    }

    fn settle(&self, reserved: MicroUsd, actual: MicroUsd) {
        self.keep_failure(self.budget.settle(reserved, actual));
    }

    fn may_be_overrun(&self) -> bool {
        true
    }

    fn is_shared_with_others(&self) -> bool {
        true
    }
}

/// Writes a journal, and declares what it has of each call. What a journal that fails does not have
/// counts until the end of the month.
#[derive(Debug)]
pub(super) struct MonthRecorder<'a> {
    month: Arc<MonthCeiling>,
    journal: &'a mut Journal,
    /// The worst case of each call in flight.
    in_flight: BTreeMap<CallId, MicroUsd>,
}

impl<'a> MonthRecorder<'a> {
    pub(super) fn new(month: Arc<MonthCeiling>, journal: &'a mut Journal) -> Self {
        Self {
            month,
            journal,
            in_flight: BTreeMap::new(),
        }
    }
}

impl Subscriber for MonthRecorder<'_> {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        let budget = &self.month.budget;
        let written = match &envelope.event {
            Event::Call(CallEvent::Started(CallStarted {
                call, worst_case, ..
            })) => {
                self.in_flight.insert(*call, worst_case.known);
                worst_case.known
            }
            Event::Call(CallEvent::Finished(finished)) => {
                let worst_case = self.in_flight.remove(&finished.call).unwrap_or_default();
                self.month.keep_failure(budget.replaced(worst_case));
                finished.counted()
            }
            _ => MicroUsd::ZERO,
        };
        self.journal.event(envelope)?;
        if written > MicroUsd::ZERO {
            self.month.keep_failure(budget.recorded(written));
        }
        Ok(())
    }
}
