//! Tests of `records::index`.

mod concurrency;
pub(crate) mod open;
mod rebuild;
mod rows;
mod store;
mod unfinished;

use std::path::{Path, PathBuf};

use conclave::domain::time::Timestamp;
use conclave::records::index::rebuild::{RebuildReport, rebuild};
use conclave::records::index::rows::{Columns, Rows};
use conclave::records::index::{Index, extract};
use conclave::records::stored::{self, RecordReadError};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::support::generated::{self, Length};

/// Returns the rows of a record's file.
pub(crate) fn rows(record: &[u8], written_at: Timestamp) -> Result<Rows, RecordReadError> {
    stored::read(record).map(|record| extract::rows(&record, written_at))
}

/// Returns the value of a row's column.
pub(crate) fn column<'r>(row: &'r Columns, name: &str) -> &'r Value {
    let mut columns = row.iter();
    &columns.find(|(column, _)| *column == name).unwrap().1
}

/// The rows of all tables in order, by table, without the internal tables of full-text search.
pub(crate) type Contents = Vec<(String, Vec<Vec<Value>>)>;

pub(crate) fn contents(connection: &Connection) -> Contents {
    read(connection).unwrap()
}

/// Reads the contents of a database that may be damaged.
pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Contents> {
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'consultations_text%' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let tables: Vec<String> = connection
        .prepare(tables)?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let rows = |table: &str| {
        let columns = connection
            .prepare(&format!("SELECT * FROM {table}"))?
            .column_count();
        let order = if columns > 1 { "1, 2" } else { "1" };
        let mut statement =
            connection.prepare(&format!("SELECT * FROM {table} ORDER BY {order}"))?;
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
        statement.query_map([], row)?.collect::<Result<_, _>>()
    };
    tables
        .into_iter()
        .map(|table| rows(&table).map(|rows| (table, rows)))
        .collect()
}

/// Asserts that the full-text index equals the tables.
pub(crate) fn check_search(connection: &Connection) {
    connection.execute("INSERT INTO consultations_text(consultations_text, rank) VALUES ('integrity-check', 1)", []).unwrap();
}

/// Returns the ids of the consultations with these words.
pub(crate) fn found(connection: &Connection, words: &str) -> Vec<String> {
    let sql = "SELECT id FROM consultations_text JOIN consultations ON number = consultations_text.rowid \
               WHERE consultations_text MATCH ?1 ORDER BY number";
    connection
        .prepare(sql)
        .unwrap()
        .query_map([words], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

/// A home with logs, from which the tests build an index.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(home.logs()).unwrap();
        home
    }

    /// Creates a home with `count` records.
    pub(crate) fn with(seed: u64, count: usize) -> Self {
        let home = Self::new();
        generated::write(&home.logs(), seed, count, Length::Short);
        home
    }

    /// Writes `count` more records.
    pub(crate) fn with_more(&self, seed: u64, count: usize) {
        generated::write(&self.logs(), seed, count, Length::Short);
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.path().join("consult-logs")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path().join("consult-analytics.db")
    }

    pub(crate) fn rebuild(&self) -> RebuildReport {
        rebuild(&self.logs(), &self.database(), &mut |_| {}).unwrap()
    }

    pub(crate) fn open(&self) -> Index {
        Index::open(&self.database()).unwrap()
    }

    /// Returns the contents of the index.
    pub(crate) fn contents(&self) -> Contents {
        let index = self.open();
        check_search(&index.connection);
        contents(&index.connection)
    }

    /// Returns the indexed ids in order.
    pub(crate) fn indexed(&self) -> Vec<String> {
        ids(
            &self.open().connection,
            "SELECT id FROM consultations ORDER BY id",
        )
    }

    /// Returns the ids of the consultations marked as open.
    pub(crate) fn marked(&self) -> Vec<String> {
        ids(
            &self.open().connection,
            "SELECT id FROM open_consultations ORDER BY id",
        )
    }

    /// Returns the names of the files beside the folder of logs.
    pub(crate) fn beside(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name != "consult-logs").collect();
        names.sort();
        names
    }
}

fn ids(connection: &Connection, sql: &str) -> Vec<String> {
    connection
        .prepare(sql)
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}
