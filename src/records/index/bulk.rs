//! Inserts the rows of very many consultations into a new database that no other process uses yet.
//!
//! Nothing has to be durable until the database is complete: nothing is synced, and the indexes are
//! created at the end.

use rusqlite::{Connection, OptionalExtension, Result};

use super::rows::Rows;
use super::store::insert;

/// Pages kept in memory, in KiB.
const CACHE_KIB: i64 = 64 * 1024;

/// A bulk insert into a new database.
#[derive(Debug)]
pub struct Bulk<'c> {
    connection: &'c Connection,
    /// The statements that create the dropped indexes.
    indexes: Vec<String>,
}

impl<'c> Bulk<'c> {
    /// Starts a bulk insert into empty tables: one transaction, which [`Self::finish`] commits.
    pub fn begin(connection: &'c Connection) -> Result<Self> {
        connection.execute_batch(&format!(
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; \
             PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; \
             PRAGMA cache_size = -{CACHE_KIB}; PRAGMA temp_store = MEMORY; \
             BEGIN IMMEDIATE;"
        ))?;
        let made = "SELECT name, sql FROM sqlite_schema \
            WHERE type = 'index' AND tbl_name = 'consultations' AND sql IS NOT NULL";
        let indexes: Vec<(String, String)> = connection
            .prepare(made)?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_>>()?;
        for (name, _) in &indexes {
            connection.execute_batch(&format!("DROP INDEX {name}"))?;
        }
        Ok(Self {
            connection,
            indexes: indexes.into_iter().map(|(_, sql)| sql).collect(),
        })
    }

    /// Inserts a consultation. Returns false when the id is there already: the first one stays.
    pub fn put(&mut self, rows: &Rows<'_>) -> Result<bool> {
        let existing = &mut self
            .connection
            .prepare_cached("SELECT 1 FROM consultations WHERE id = ?1")?;
        if existing
            .query_row([&rows.consultation.id], |_| Ok(()))
            .optional()?
            .is_some()
        {
            return Ok(false);
        }
        insert(self.connection, rows).map(|_| true)
    }

    /// Creates the indexes and commits.
    pub fn finish(self) -> Result<()> {
        for sql in &self.indexes {
            self.connection.execute_batch(sql)?;
        }
        self.connection.execute_batch(
            "INSERT INTO consultations_text(consultations_text) VALUES ('rebuild'); \
             COMMIT;",
        )
    }
}
