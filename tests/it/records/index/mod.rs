//! Tests of `records::index`.

mod rows;
mod schema;
mod storing;

use rusqlite::Connection;
use rusqlite::types::Value;

/// All that the tables have, by their names, each with its rows in order; without what full-text search keeps for itself.
pub(crate) fn contents(connection: &Connection) -> Vec<(String, Vec<Vec<Value>>)> {
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'consultations_text%' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let tables: Vec<String> = connection.prepare(tables).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let rows = |table: &str| {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap_or_else(|_| {
            // Of one column.
            connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1")).unwrap()
        });
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    };
    tables
        .into_iter()
        .map(|table| {
            let rows = rows(&table);
            (table, rows)
        })
        .collect()
}

/// Checks that what is searched is what the tables have.
pub(crate) fn check_search(connection: &Connection) {
    connection.execute("INSERT INTO consultations_text(consultations_text, rank) VALUES ('integrity-check', 1)", []).unwrap();
}

/// Ids of the consultations that have these words.
pub(crate) fn found(connection: &Connection, words: &str) -> Vec<String> {
    let sql = "SELECT id FROM consultations_text JOIN consultations ON number = consultations_text.rowid \
               WHERE consultations_text MATCH ?1 ORDER BY number";
    connection.prepare(sql).unwrap().query_map([words], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}
