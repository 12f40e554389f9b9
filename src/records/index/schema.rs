//! The tables and their migrations, as numbered SQL files: `PRAGMA user_version` is the number of
//! those that a database has.

use rusqlite::{Connection, OptionalExtension, Result, Row, TransactionBehavior};

/// `conc`: identifies a database as this program's.
pub const APPLICATION_ID: i32 = 0x636f_6e63;

/// The migrations, in order. A published one never changes: a new version adds one.
pub const MIGRATIONS: [&str; 8] = [
    include_str!("migrations/001_consultations.sql"),
    include_str!("migrations/002_search_and_outcomes.sql"),
    include_str!("migrations/003_days.sql"),
    include_str!("migrations/004_statistics.sql"),
    include_str!("migrations/005_calls.sql"),
    include_str!("migrations/006_declined.sql"),
    include_str!("migrations/007_follow_ups.sql"),
    include_str!("migrations/008_context.sql"),
];

/// Returns the number of migrations, which is the current version.
pub fn version() -> usize {
    MIGRATIONS.len()
}

/// Applies the missing migrations in one transaction. `from` is the version that was read before; a
/// database that another process has migrated meanwhile is left as it is.
pub fn migrate(connection: &mut Connection, from: usize) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let current: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let done = from.max(usize::try_from(current).unwrap_or_default());
    if done < version() {
        apply(&transaction, done)?;
    }
    transaction.commit()
}

/// Replaces all tables, of whatever version, by empty ones. The caller has begun a transaction.
pub(super) fn recreate(transaction: &Connection) -> Result<()> {
    // A virtual table drops the tables that it keeps its data in.
    let next = "SELECT type, name FROM sqlite_schema \
        WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' \
        ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC LIMIT 1";
    let next = || {
        let drop = |row: &Row<'_>| {
            let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
            Ok(format!("DROP {kind} \"{name}\""))
        };
        transaction.query_row(next, [], drop).optional()
    };
    while let Some(drop) = next()? {
        transaction.execute_batch(&drop)?;
    }
    apply(transaction, 0)
}

fn apply(transaction: &Connection, done: usize) -> Result<()> {
    for step in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    let version = i64::try_from(version()).unwrap_or_default();
    transaction.pragma_update(None, "user_version", version)
}
