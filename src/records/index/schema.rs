//! The tables, made and brought up to date by numbered SQL files: `PRAGMA user_version` says how
//! many of them a database has.

use rusqlite::{Connection, TransactionBehavior};

/// `conc`: marks a database as this program's.
pub const APPLICATION_ID: i32 = 0x636f_6e63;

/// The steps from nothing to the tables of today, in order. A step is never changed: a new version
/// adds one.
pub const MIGRATIONS: [&str; 3] = [
    include_str!("migrations/001_consultations.sql"),
    include_str!("migrations/002_search_and_outcomes.sql"),
    include_str!("migrations/003_days.sql"),
];

/// How many steps a database of today has.
pub fn version() -> usize {
    MIGRATIONS.len()
}

/// Brings a database to the tables of today, in one transaction. `from` is how many steps it was
/// seen to have; one that another process has brought further in the meantime is not taken back.
pub fn migrate(connection: &mut Connection, from: usize) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let done = from.max(usize::try_from(found).unwrap_or_default());
    if done < version() {
        for step in MIGRATIONS.iter().skip(done) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(
            None,
            "user_version",
            i64::try_from(version()).unwrap_or_default(),
        )?;
    }
    transaction.commit()
}
