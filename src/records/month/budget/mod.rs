//! A monthly budget that the processes of one home share: together they never exceed it.
//!
//! [`MonthBudget::reserve`] sets the worst case of a call aside, and [`MonthBudget::settle`] turns
//! that into what the call cost. A journal first holds the worst case, then the cost.
//! [`MonthBudget::recorded`] and [`MonthBudget::replaced`] declare these two steps, because later
//! processes read the journals.
//!
//! Each process has a row in the database `monthly-budget/spending.db` in the home with four
//! amounts: what it has reserved, what it has spent, what of both was written to journals, and what
//! of that the journals no longer have. The last three only grow. A process counts as running while
//! it holds the lock of `monthly-budget/ID.lock`. A process that opens the budget notes the sum of
//! all recorded amounts, then adds up the records, then notes the sum of all replaced amounts, so
//! that every micro-dollar is in the records or counted since:
//!
//! ```text
//! used = records as read at the opening
//!      + spent and reserved by all
//!      − recorded by all before that reading + replaced by all before its end
//! ```
//!
//! Invariant: `used` is never below what was spent and may still be billed. It can be above it by
//! what was recorded or replaced while the records were read.
//!
//! What a process had reserved when it was killed counts as spent. What of its spending is in no
//! journal stays counted until the end of the month.
//!
//! A damaged database is an error: the amount it reserves is unknown. Deleting `monthly-budget/`
//! while no process runs forgets everything but the records. A power failure can lose the last
//! changes, which are not synced.

#[cfg(test)]
mod tests;

use std::fs::{self, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::civil::Date;
use rusqlite::{Connection, Params, Transaction, TransactionBehavior};

use crate::consultation::policy::budget::BudgetCheck;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::files::write::{WriteError, create_private_dir};
use crate::files::{self, FileLock, SizeLimit};

/// The time to wait for another process.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// The length of a database's header.
const HEADER: u64 = 100;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS processes (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      month TEXT NOT NULL,
      reserved INTEGER NOT NULL DEFAULT 0,
      spent INTEGER NOT NULL DEFAULT 0,
      recorded INTEGER NOT NULL DEFAULT 0,
      replaced INTEGER NOT NULL DEFAULT 0,
      has_ended INTEGER NOT NULL DEFAULT 0
    )";

/// The reason why the shared budget cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MonthBudgetError {
    #[error(
        "cannot lock `{}`: processes can share the monthly budget only on a file system with locks",
        path.display()
    )]
    Lock { path: PathBuf, source: io::Error },
    #[error("cannot use the monthly budget's database, `monthly-budget/spending.db` in the home")]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(
        "the monthly budget's file `{}` was deleted while its process was running",
        .0.display()
    )]
    Deleted(PathBuf),
}

type Result<T, E = MonthBudgetError> = std::result::Result<T, E>;

/// One process's share in the budget of a calendar month.
#[derive(Debug)]
pub struct MonthBudget {
    database: Mutex<Connection>,
    folder: PathBuf,
    /// `2026-11`.
    month: String,
    pub limit: MicroUsd,
    /// The spending in the records, as read at the opening.
    in_records: MicroUsd,
    /// What of all processes' amounts is in there.
    recorded_before: MicroUsd,
    /// The row of this process. Its lock tells the others that it is running.
    id: i64,
    lock: Option<FileLock>,
}

/// The amounts of all processes.
#[derive(Clone, Copy, Debug, Default)]
struct Amounts {
    reserved: MicroUsd,
    spent: MicroUsd,
    recorded: MicroUsd,
    replaced: MicroUsd,
}

impl MonthBudget {
    /// Opens the budget of the month of a day. `read_records` adds up the month's records; it is
    /// called once, without a lock.
    ///
    /// # Errors
    ///
    /// When the home cannot be written, its file system has no locks, or the database is damaged.
    pub fn open(
        home: &Path,
        month: Date,
        limit: MicroUsd,
        read_records: impl FnOnce() -> Cost,
    ) -> Result<Self> {
        let folder = home.join("monthly-budget");
        let month = month.strftime("%Y-%m").to_string();
        create_private_dir(home)?;
        create_private_dir(&folder)?;
        let mut database = open_database(&folder.join("spending.db"))?;
        database.busy_timeout(LONGEST_WAIT)?;
        // Another process that is opening it at this moment may prevent it. It works without.
        let _ = database.query_row("PRAGMA journal_mode = wal", [], |_| Ok(()));
        database.pragma_update(None, "synchronous", "normal")?;
        let transaction = begin(&mut database)?;
        transaction.execute_batch(SCHEMA)?;
        end_dead(&transaction, &folder)?;
        let recorded = sum(&transaction, &month)?.recorded;
        transaction.execute("INSERT INTO processes(month) VALUES (?1)", [&month])?;
        let id = transaction.last_insert_rowid();
        let lock = Some(lock(&lock_path(&folder, id))?);
        transaction.commit()?;
        let in_records = read_records().known;
        let transaction = begin(&mut database)?;
        let replaced = sum(&transaction, &month)?.replaced;
        transaction.commit()?;
        Ok(Self {
            database: Mutex::new(database),
            folder,
            month,
            limit,
            in_records,
            recorded_before: minus(recorded, replaced),
            id,
            lock,
        })
    }

    /// Without reservations.
    pub fn spent(&self) -> Result<MicroUsd> {
        let mut database = self.database();
        let transaction = begin(&mut database)?;
        end_dead(&transaction, &self.folder)?;
        let sum = sum(&transaction, &self.month)?;
        transaction.commit()?;
        Ok(self.spent_of(sum))
    }

    /// Reserves the worst case of a call, if it fits.
    ///
    /// # Errors
    ///
    /// When the database cannot be read or written; nothing is reserved then.
    pub fn reserve(&self, worst_case: MicroUsd) -> Result<BudgetCheck> {
        // Other processes count what they find in the folder.
        let lock = lock_path(&self.folder, self.id);
        if !lock.exists() {
            return Err(MonthBudgetError::Deleted(lock));
        }
        let mut database = self.database();
        let transaction = begin(&mut database)?;
        end_dead(&transaction, &self.folder)?;
        let sum = sum(&transaction, &self.month)?;
        let remaining = minus(self.limit, self.spent_of(sum));
        let check = if worst_case > remaining {
            BudgetCheck::Exceeded
        } else if worst_case > minus(remaining, sum.reserved) {
            BudgetCheck::WaitForInFlight
        } else {
            let sql = "UPDATE processes SET reserved = reserved + ?2 WHERE id = ?1";
            transaction.execute(sql, (self.id, amount(worst_case)))?;
            BudgetCheck::Allowed
        };
        transaction.commit()?;
        Ok(check)
    }

    /// Turns a reservation into what its call cost; zero for a call that was never sent.
    ///
    /// # Errors
    ///
    /// When the database cannot be written; the reservation stays then.
    pub fn settle(&self, reserved: MicroUsd, actual: MicroUsd) -> Result<()> {
        self.change(
            "reserved = max(reserved - ?2, 0), spent = spent + ?3 WHERE id = ?1",
            (self.id, amount(reserved), amount(actual)),
        )
    }

    /// Declares that a worst case or a cost is in a journal. To be called after it was written: an
    /// amount that is declared earlier can be missed by a process that opens the budget in between.
    ///
    /// # Errors
    ///
    /// When the database cannot be written; the amount stays unrecorded then.
    pub fn recorded(&self, written: MicroUsd) -> Result<()> {
        self.change(
            "recorded = min(recorded + ?2, spent + reserved + replaced) WHERE id = ?1",
            (self.id, amount(written)),
        )
    }

    /// Declares that a worst case in a journal no longer counts there, because a cost replaces it.
    /// To be called before that is written.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn replaced(&self, worst_case: MicroUsd) -> Result<()> {
        self.change(
            "replaced = min(replaced + ?2, recorded) WHERE id = ?1",
            (self.id, amount(worst_case)),
        )
    }

    fn change(&self, change: &str, values: impl Params) -> Result<()> {
        let sql = format!("UPDATE processes SET {change}");
        self.database().execute(&sql, values)?;
        Ok(())
    }

    /// Returns the spending of the month that a sum over all processes amounts to.
    fn spent_of(&self, sum: Amounts) -> MicroUsd {
        minus(self.in_records + sum.spent, self.recorded_before)
    }

    fn database(&self) -> MutexGuard<'_, Connection> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes the rows of earlier months and those without unrecorded spending, unless a process
    /// runs: it may count what they hold.
    fn clean_up(&self) -> Result<()> {
        let mut database = self.database();
        let transaction = begin(&mut database)?;
        end_dead(&transaction, &self.folder)?;
        let sql = "DELETE FROM processes WHERE (month < ?1 OR spent = recorded - replaced) \
             AND NOT EXISTS (SELECT 1 FROM processes WHERE NOT has_ended)";
        transaction.execute(sql, [&self.month])?;
        Ok(transaction.commit()?)
    }
}

impl Drop for MonthBudget {
    fn drop(&mut self) {
        // A process that has ended does not count.
        drop(self.lock.take());
        // What stays is cleaned up by the next process.
        let _ = self.clean_up();
    }
}

fn open_database(path: &Path) -> Result<Connection> {
    // To SQLite a file without a whole header is a new database.
    if fs::metadata(path).is_ok_and(|file| (1..HEADER).contains(&file.len())) {
        let failure = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
        return Err(rusqlite::Error::SqliteFailure(failure, None).into());
    }
    Ok(Connection::open(path)?)
}

/// Waits until no other process reads or writes the amounts.
fn begin(database: &mut Connection) -> Result<Transaction<'_>> {
    Ok(database.transaction_with_behavior(TransactionBehavior::Immediate)?)
}

/// Turns the reservations of processes that have ended into spending.
fn end_dead(transaction: &Transaction<'_>, folder: &Path) -> Result<()> {
    let running: Vec<i64> = transaction
        .prepare_cached("SELECT id FROM processes WHERE NOT has_ended")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in running {
        let lock = lock_path(folder, id);
        if !is_locked(&lock)? {
            let sql = "UPDATE processes \
                 SET has_ended = 1, spent = spent + reserved, reserved = 0 WHERE id = ?1";
            transaction.execute(sql, [id])?;
            // One that stays harms nothing.
            let _ = fs::remove_file(lock);
        }
    }
    Ok(())
}

fn sum(transaction: &Transaction<'_>, month: &str) -> Result<Amounts> {
    let sql = "SELECT reserved, spent, recorded, replaced FROM processes WHERE month = ?1";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query([month])?;
    let mut sum = Amounts::default();
    while let Some(row) = rows.next()? {
        sum.reserved += MicroUsd(row.get(0)?);
        sum.spent += MicroUsd(row.get(1)?);
        sum.recorded += MicroUsd(row.get(2)?);
        sum.replaced += MicroUsd(row.get(3)?);
    }
    Ok(sum)
}

fn lock_path(folder: &Path, id: i64) -> PathBuf {
    folder.join(format!("{id}.lock"))
}

fn lock(path: &Path) -> Result<FileLock> {
    files::lock(path).map_err(|source| MonthBudgetError::Lock {
        path: path.to_owned(),
        source,
    })
}

fn is_locked(path: &Path) -> Result<bool> {
    let locked = match files::open(path, SizeLimit::SMALL) {
        Ok(file) => file.try_lock_shared(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => Err(TryLockError::Error(error)),
    };
    match locked {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(MonthBudgetError::Lock {
            path: path.to_owned(),
            source,
        }),
    }
}

fn minus(amount: MicroUsd, less: MicroUsd) -> MicroUsd {
    MicroUsd(amount.0.saturating_sub(less.0))
}

/// At most a billion dollars: sums of many fit.
fn amount(amount: MicroUsd) -> i64 {
    i64::try_from(amount.0.min(1 << 50)).unwrap_or_default()
}
