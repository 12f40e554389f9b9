//! The tables, as one SQL file.

use rusqlite::{Connection, OptionalExtension, Result, Row};

/// `conc`: identifies a database as this program's.
pub const APPLICATION_ID: i32 = 0x636f_6e63;

/// The version of the tables, as `PRAGMA user_version`. A database of another one is rebuilt.
pub const VERSION: i32 = 1;

pub fn create(connection: &Connection) -> Result<()> {
    connection.execute_batch(include_str!("schema.sql"))?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// The caller has begun a transaction.
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
    create(transaction)
}
