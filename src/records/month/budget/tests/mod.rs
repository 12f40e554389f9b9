//! Tests of the monthly budget with the database of a home.

mod properties;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::BudgetCheck::{Allowed, Exceeded, WaitForInFlight};
use super::*;

/// A home, and the sum of what is in its journals.
struct Home {
    folder: tempfile::TempDir,
    journals: AtomicU64,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            journals: AtomicU64::new(0),
        }
    }

    fn try_open(&self, limit: u64) -> Result<MonthBudget, MonthBudgetError> {
        MonthBudget::open(self.folder.path(), november(), MicroUsd(limit), || {
            Cost::exactly(MicroUsd(self.journals.load(Ordering::SeqCst)))
        })
    }

    fn open(&self, limit: u64) -> MonthBudget {
        self.try_open(limit).unwrap()
    }

    /// Writes spending to a journal, then declares it.
    fn record(&self, process: &MonthBudget, amount: u64) {
        self.journals.fetch_add(amount, Ordering::SeqCst);
        process.recorded(MicroUsd(amount)).unwrap();
    }

    /// Begins a call: its worst case is reserved and in a journal.
    fn begin(&self, process: &MonthBudget, worst_case: u64) {
        assert_eq!(reserve(process, worst_case), Allowed);
        self.record(process, worst_case);
    }

    /// Ends a call: its cost replaces its worst case.
    fn end(&self, process: &MonthBudget, worst_case: u64, cost: u64) {
        settle(process, worst_case, cost);
        process.replaced(MicroUsd(worst_case)).unwrap();
        self.journals.fetch_sub(worst_case, Ordering::SeqCst);
        self.record(process, cost);
    }

    /// Makes a call at its worst case, and records it.
    fn spend(&self, process: &MonthBudget, amount: u64) {
        self.begin(process, amount);
        self.end(process, amount, amount);
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("monthly-budget/spending.db")
    }

    /// Returns the number of processes whose amounts are kept.
    fn rows(&self) -> u64 {
        let database = Connection::open(self.database()).unwrap();
        let count = |row: &rusqlite::Row<'_>| row.get(0);
        database
            .query_row("SELECT count(*) FROM processes", [], count)
            .unwrap()
    }
}

fn november() -> Date {
    jiff::civil::date(2026, 11, 22)
}

fn reserve(process: &MonthBudget, amount: u64) -> BudgetCheck {
    process.reserve(MicroUsd(amount)).unwrap()
}

fn settle(process: &MonthBudget, reserved: u64, actual: u64) {
    process
        .settle(MicroUsd(reserved), MicroUsd(actual))
        .unwrap();
}

fn spent(process: &MonthBudget) -> u64 {
    process.spent().unwrap().0
}

/// Ends a process as `kill -9` does: its lock is released, its row stays.
fn kill(mut process: MonthBudget) {
    drop(process.lock.take());
    std::mem::forget(process);
}

#[test]
fn reservations_of_all_processes_share_the_limit() {
    let home = Home::new();
    let (one, other) = (home.open(10), home.open(10));
    assert_eq!(reserve(&one, 7), Allowed);
    assert_eq!(reserve(&other, 4), WaitForInFlight);
    assert_eq!(reserve(&other, 3), Allowed);
    assert_eq!(reserve(&one, 1), WaitForInFlight);
    assert_eq!(reserve(&one, 11), Exceeded);
}

#[test]
fn settled_calls_free_what_they_did_not_cost() {
    let home = Home::new();
    let (one, other) = (home.open(10), home.open(10));
    assert_eq!(reserve(&one, 9), Allowed);
    settle(&one, 9, 2);
    assert_eq!(spent(&other), 2);
    assert_eq!(reserve(&other, 8), Allowed);
    settle(&other, 8, 0);
    assert_eq!(reserve(&one, 9), Exceeded);
}

#[test]
fn spending_stays_counted_after_its_process_has_closed() {
    let home = Home::new();
    let (spender, witness) = (home.open(10), home.open(10));
    home.spend(&spender, 6);
    drop(spender);
    assert_eq!(spent(&witness), 6);
    assert_eq!(reserve(&witness, 5), Exceeded);
    assert_eq!(spent(&home.open(10)), 6);
}

/// Opens the budget of 10; `meanwhile` happens before or after its records are read.
fn open_while(home: &Home, reads_first: bool, meanwhile: impl FnOnce()) -> MonthBudget {
    let read_records = || {
        let early = home.journals.load(Ordering::SeqCst);
        meanwhile();
        let late = home.journals.load(Ordering::SeqCst);
        Cost::exactly(MicroUsd(if reads_first { early } else { late }))
    };
    MonthBudget::open(home.folder.path(), november(), MicroUsd(10), read_records).unwrap()
}

#[test]
fn spending_recorded_while_the_records_are_read_is_counted() {
    for reads_first in [true, false] {
        let home = Home::new();
        let first = home.open(10);
        assert_eq!(reserve(&first, 4), Allowed);
        settle(&first, 4, 4);
        let later = open_while(&home, reads_first, || home.record(&first, 4));
        assert!(spent(&later) >= 4, "{reads_first}");
    }
}

#[test]
fn worst_case_replaced_while_the_records_are_read_is_counted() {
    for reads_first in [true, false] {
        let home = Home::new();
        let first = home.open(10);
        home.begin(&first, 6);
        let later = open_while(&home, reads_first, || home.end(&first, 6, 2));
        assert!(spent(&later) >= 2, "{reads_first}");
    }
}

#[test]
fn calls_in_flight_count_once_for_later_processes() {
    let home = Home::new();
    let first = home.open(10);
    home.begin(&first, 6);
    let later = home.open(10);
    assert_eq!(spent(&later), 0);
    assert_eq!(reserve(&later, 5), WaitForInFlight);
    home.end(&first, 6, 2);
    assert_eq!(spent(&later), 2);
    assert_eq!(spent(&home.open(10)), 2);
    assert_eq!(reserve(&later, 8), Allowed);
}

#[test]
fn last_process_to_close_leaves_no_amounts() {
    let home = Home::new();
    let (one, other) = (home.open(10), home.open(10));
    for process in [&one, &other] {
        assert_eq!(reserve(process, 2), Allowed);
        settle(process, 2, 1);
        home.record(process, 1);
    }
    drop(one);
    assert_eq!(home.rows(), 2);
    drop(other);
    assert_eq!(home.rows(), 0);
    let left = fs::read_dir(home.folder.path().join("monthly-budget")).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| name == "spending.db"));
}

#[test]
fn spending_without_a_record_stays_counted_for_the_month() {
    let home = Home::new();
    let process = home.open(10);
    assert_eq!(reserve(&process, 5), Allowed);
    settle(&process, 5, 5);
    home.record(&process, 2);
    drop(process);
    for _ in 0..3 {
        let process = home.open(10);
        assert_eq!(spent(&process), 5);
        drop(process);
    }
    assert_eq!(home.rows(), 1);
}

#[test]
fn reservations_of_a_killed_process_count_as_spent() {
    let home = Home::new();
    let (killed, witness) = (home.open(10), home.open(10));
    assert_eq!(reserve(&killed, 6), Allowed);
    assert_eq!(reserve(&witness, 5), WaitForInFlight);
    kill(killed);
    assert_eq!(reserve(&witness, 5), Exceeded);
    assert_eq!(spent(&witness), 6);
    drop(witness);
    assert_eq!(spent(&home.open(10)), 6);
}

#[test]
fn calls_in_flight_of_a_killed_process_count_by_their_journal() {
    let home = Home::new();
    let (killed, witness) = (home.open(10), home.open(10));
    home.begin(&killed, 4);
    home.end(&killed, 4, 1);
    home.begin(&killed, 6);
    kill(killed);
    assert_eq!(spent(&witness), 7);
    let next = home.open(10);
    assert_eq!(spent(&next), 7);
    drop((next, witness));
    assert_eq!(home.rows(), 0);
    assert_eq!(spent(&home.open(10)), 7);
}

#[test]
fn amounts_of_earlier_months_are_removed_once_no_process_uses_them() {
    let home = Home::new();
    let open_october = || {
        let october = jiff::civil::date(2026, 10, 31);
        MonthBudget::open(home.folder.path(), october, MicroUsd(10), Cost::default).unwrap()
    };
    let october = open_october();
    assert_eq!(reserve(&october, 9), Allowed);
    let november = home.open(10);
    assert_eq!(reserve(&november, 9), Allowed);
    kill(november);
    assert_eq!(spent(&october), 0);
    kill(october);
    assert_eq!(
        spent(&open_october()),
        9,
        "a clock that is set back finds it"
    );
    drop(home.open(10));
    assert_eq!(home.rows(), 1, "what November may have spent");
}

#[test]
fn damaged_database_is_an_error() {
    let home = Home::new();
    drop(home.open(10));
    let whole = fs::read(home.database()).unwrap();
    let text = b"no database".repeat(1_000);
    for damage in [b"{", text.as_slice()] {
        fs::write(home.database(), damage).unwrap();
        let error = home.try_open(10).unwrap_err();
        assert!(matches!(error, MonthBudgetError::Database(_)), "{error}");
    }
    // Of a cut database, what is left may be enough.
    fs::write(home.database(), &whole[..whole.len() / 2 + 100]).unwrap();
    let _ = home.try_open(10);
}

#[test]
fn process_cannot_declare_more_than_it_has_spent() {
    let home = Home::new();
    let killed = home.open(20);
    assert_eq!(reserve(&killed, 4), Allowed);
    kill(killed);
    let next = home.open(20);
    assert_eq!(reserve(&next, 3), Allowed);
    settle(&next, 3, 3);
    // More than this process has spent.
    home.record(&next, 5);
    assert_eq!(spent(&home.open(20)), 4 + 5);
}

#[test]
fn deleting_the_files_of_a_running_process_is_an_error() {
    let home = Home::new();
    let process = home.open(10);
    fs::remove_dir_all(home.folder.path().join("monthly-budget")).unwrap();
    let error = process.reserve(MicroUsd(1)).unwrap_err();
    assert!(matches!(error, MonthBudgetError::Deleted(_)), "{error}");
    drop(process);
}
