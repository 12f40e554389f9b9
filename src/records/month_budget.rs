//! A monthly budget that the processes of one home share: together they never exceed it.
//!
//! A call is paid for in three steps. [`MonthBudget::reserve`] sets its worst case aside,
//! [`MonthBudget::settle`] turns that into what the call cost, and [`MonthBudget::recorded`]
//! declares that the cost is now in a journal, where later processes find it.
//!
//! Each process has a small file in `monthly-budget/` in the home (see `files`) with three amounts:
//! what it has reserved, what it has spent, and what of that is recorded. The last two only grow. A
//! process that opens the budget notes the sum of all recorded amounts and adds up the records
//! after that, so that every micro-dollar is in the records or counted since:
//!
//! ```text
//! used = records as read at the opening
//!      + spent by all − recorded by all before that reading
//!      + reserved by all
//! ```
//!
//! Invariant: `used` is never below what was spent and may still be billed. It can be above it by
//! costs that were recorded while the records were read.
//!
//! What a process has spent and not recorded when it ends is in no record, and stays counted until
//! the end of the month. What a killed process had reserved is released when the next process opens
//! the budget, if a journal has its calls: those in flight count there, in every later reading of
//! the records. Processes that opened the budget earlier have not read that, and count the
//! reservation until they end. Without a journal ([`MonthBudget::use_journal`]), the calls may have
//! been billed all the same, and the reservation stays counted until the end of the month.
//!
//! A damaged file is an error: the amount it reserves is unknown. Deleting `monthly-budget/`
//! while no process runs forgets everything but the records. A lost power supply can lose the last
//! changes: the files are not synced.

mod files;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::civil::Date;

use crate::consultation::policy::budget::BudgetCheck;
use crate::domain::money::{Cost, MicroUsd};

use files::{Amounts, BudgetFolder, ProcessFile};

pub use files::MonthBudgetError;

/// One process's share in the budget of a calendar month. The last one to be dropped leaves no
/// files, unless spending is unrecorded.
#[derive(Debug)]
pub struct MonthBudget {
    folder: BudgetFolder,
    limit: MicroUsd,
    /// The spending in the records, as read at the opening.
    in_records: MicroUsd,
    /// The recorded amounts of all processes before that reading.
    recorded_before: MicroUsd,
    own: Mutex<ProcessFile>,
    /// The unrecorded spending in that file before it was this process's.
    unrecorded_before: MicroUsd,
}

impl MonthBudget {
    /// Opens the budget of the month of a day. `read_records` adds up the month's records; it is
    /// called once, without a lock.
    ///
    /// # Errors
    ///
    /// When the home cannot be written, its file system has no locks, or a file of the budget is
    /// damaged.
    pub fn open(
        home: &Path,
        month: Date,
        limit: MicroUsd,
        read_records: impl FnOnce() -> Cost,
    ) -> Result<Self, MonthBudgetError> {
        let folder = BudgetFolder::new(home, month);
        let lock = folder.lock()?;
        folder.release_ended(&lock)?;
        let recorded_before = folder.sum(&lock)?.recorded;
        let own = folder.register(&lock)?;
        drop(lock);
        let unrecorded_before = minus(own.amounts.spent, own.amounts.recorded);
        Ok(Self {
            in_records: read_records().known,
            folder,
            limit,
            recorded_before,
            own: Mutex::new(own),
            unrecorded_before,
        })
    }

    /// Declares that every call of this process is in a journal before it goes out.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; a reservation then outlasts its process.
    pub fn use_journal(&self) -> Result<(), MonthBudgetError> {
        self.change(|amounts| amounts.is_journalled = true)
    }

    /// Returns the limit of the month.
    pub fn limit(&self) -> MicroUsd {
        self.limit
    }

    /// Returns what all processes have spent in the month, without reservations.
    pub fn spent(&self) -> Result<MicroUsd, MonthBudgetError> {
        let lock = self.folder.lock()?;
        Ok(self.spent_of(self.folder.sum(&lock)?))
    }

    /// Reserves the worst case of a call, if it fits.
    ///
    /// # Errors
    ///
    /// When the files cannot be read or written; nothing is reserved then.
    pub fn reserve(&self, worst_case: MicroUsd) -> Result<BudgetCheck, MonthBudgetError> {
        let mut own = self.own();
        let lock = self.folder.lock()?;
        own.check_exists()?;
        let sum = self.folder.sum(&lock)?;
        let remaining = self.limit.0.saturating_sub(self.spent_of(sum).0);
        if worst_case.0 > remaining {
            Ok(BudgetCheck::Exceeded)
        } else if worst_case.0 > remaining.saturating_sub(sum.reserved.0) {
            Ok(BudgetCheck::WaitForInFlight)
        } else {
            let mut amounts = own.amounts;
            amounts.reserved += worst_case;
            own.write(&lock, amounts)?;
            Ok(BudgetCheck::Allowed)
        }
    }

    /// Turns a reservation into what its call cost; zero for a call that was never sent.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; the reservation stays then.
    pub fn settle(&self, reserved: MicroUsd, actual: MicroUsd) -> Result<(), MonthBudgetError> {
        self.change(|amounts| {
            amounts.reserved = minus(amounts.reserved, reserved);
            amounts.spent += actual;
        })
    }

    /// Declares that spending is in a journal. To be called after the journal was written: spending
    /// that is declared earlier can be missed by a process that opens the budget in between.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; the spending stays unrecorded then.
    pub fn recorded(&self, amount: MicroUsd) -> Result<(), MonthBudgetError> {
        self.change(|amounts| {
            let most = minus(amounts.spent, self.unrecorded_before);
            amounts.recorded = (amounts.recorded + amount).min(most);
        })
    }

    fn change(&self, change: impl FnOnce(&mut Amounts)) -> Result<(), MonthBudgetError> {
        let mut own = self.own();
        let lock = self.folder.lock()?;
        let mut amounts = own.amounts;
        change(&mut amounts);
        own.write(&lock, amounts)
    }

    /// Returns the spending of the month that a sum over all processes amounts to.
    fn spent_of(&self, sum: Amounts) -> MicroUsd {
        self.in_records + minus(sum.spent, self.recorded_before)
    }

    fn own(&self) -> MutexGuard<'_, ProcessFile> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MonthBudget {
    fn drop(&mut self) {
        let lock = self.folder.lock();
        self.own().release();
        if let Ok(lock) = lock {
            // Files that stay are taken over by the next process.
            let _ = self.folder.clean_up(&lock);
        }
    }
}

fn minus(amount: MicroUsd, less: MicroUsd) -> MicroUsd {
    MicroUsd(amount.0.saturating_sub(less.0))
}
