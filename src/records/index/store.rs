//! Inserts, replaces and deletes the rows of a consultation, within a transaction of the caller.
//!
//! The full-text index stores no text: to remove a row from it, it needs the original text. So its
//! entry goes before the row.

use rusqlite::{Connection, OptionalExtension, Result, TransactionBehavior, params_from_iter};

use crate::domain::ids::ConsultationId;
use crate::domain::record::outcome::Grade;

use super::open::Index;
use super::rows::{Columns, Rows, number};

/// Replaces earlier rows; the user's grade stays.
pub fn put(connection: &Connection, rows: &Rows) -> Result<()> {
    let sql = "SELECT outcome, outcome_note, outcome_at FROM consultations WHERE id = ?1";
    let mut earlier = connection.prepare_cached(sql)?;
    let grade = earlier.query_row([&rows.id], |row| {
        Ok([row.get(0)?, row.get(1)?, row.get(2)?])
    });
    let grade = grade.optional()?;
    if grade.is_some() {
        delete(connection, &rows.id)?;
    }
    let number = free_number(connection, rows)?;
    insert(connection, "consultations", number, &rows.consultation)?;
    let children = [
        ("consultation_agents", &rows.agents),
        ("consultation_rounds", &rows.rounds),
        ("calls", &rows.calls),
    ];
    for (table, rows) in children {
        for columns in rows {
            insert(connection, table, number, columns)?;
        }
    }
    let sql = "INSERT INTO consultations_text(rowid, question, final_recommendation) \
        SELECT number, question, final_recommendation FROM consultations WHERE number = ?1";
    connection.prepare_cached(sql)?.execute([number])?;
    grade.map_or(Ok(()), |grade| write_grade(connection, &rows.id, grade))
}

/// Returns false when there were none.
pub fn remove(connection: &Connection, id: &str) -> Result<bool> {
    connection.execute("DELETE FROM open_consultations WHERE id = ?1", [id])?;
    delete(connection, id)
}

/// In a transaction of its own.
pub fn remove_all(index: &mut Index, ids: &[&ConsultationId]) -> Result<()> {
    let connection = &mut index.connection;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for id in ids {
        remove(&transaction, id.as_str())?;
    }
    transaction.commit()
}

pub fn set_outcome(connection: &Connection, id: &str, grade: Option<&Grade>) -> Result<()> {
    let columns = [
        grade.map(|grade| grade.outcome.name().to_owned()),
        grade.and_then(|grade| grade.note.clone()),
        grade.map(|grade| grade.at.to_string()),
    ];
    write_grade(connection, id, columns)
}

fn write_grade(connection: &Connection, id: &str, grade: [Option<String>; 3]) -> Result<()> {
    let [outcome, note, at] = grade;
    let sql = "UPDATE consultations SET outcome = ?2, outcome_note = ?3, outcome_at = ?4 \
        WHERE id = ?1";
    let mut update = connection.prepare_cached(sql)?;
    update.execute((id, outcome, note, at)).map(drop)
}

/// The rows of agents, rounds and calls go with the consultation's.
fn delete(connection: &Connection, id: &str) -> Result<bool> {
    let sql = "INSERT INTO consultations_text(consultations_text, rowid, question, \
        final_recommendation) \
        SELECT 'delete', number, question, final_recommendation FROM consultations WHERE id = ?1";
    connection.prepare_cached(sql)?.execute([id])?;
    let sql = "DELETE FROM consultations WHERE id = ?1";
    Ok(connection.prepare_cached(sql)?.execute([id])? > 0)
}

fn insert(connection: &Connection, table: &str, number: i64, columns: &Columns) -> Result<()> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let places = ", ?".repeat(columns.len());
    let sql = format!(
        "INSERT INTO {table}({}, number) VALUES (?{places})",
        names.join(", ")
    );
    let values = columns.iter().map(|(_, value)| value.clone());
    let values = values.chain([number.into()]);
    let mut insert = connection.prepare_cached(&sql)?;
    insert.execute(params_from_iter(values)).map(drop)
}

/// Returns the key of a consultation, or the next free one: two that begin in one millisecond can
/// have the same hash.
fn free_number(connection: &Connection, rows: &Rows) -> Result<i64> {
    let mut number = number(rows.created_at, &rows.id);
    let taken = &mut connection.prepare_cached("SELECT 1 FROM consultations WHERE number = ?1")?;
    while taken.exists([number])? {
        number += 1;
    }
    Ok(number)
}
