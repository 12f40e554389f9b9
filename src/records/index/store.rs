//! Inserts, replaces and deletes the rows of a consultation, within a transaction of the caller.
//!
//! The full-text index stores no text: to remove a row from it, it needs the original text. So the
//! old row is read before it is deleted.

use rusqlite::{
    Connection, OptionalExtension, Result, ToSql, TransactionBehavior, params, params_from_iter,
};

use crate::domain::ids::ConsultationId;
use crate::domain::money::Cost;
use crate::domain::outcome::Grade;
use crate::domain::stored_record::Completion;

use super::open::Index;
use super::rows::{ConsultationRow, Rows, number};

/// Inserts a consultation's rows, replacing earlier ones; the user's grade stays.
pub fn put(connection: &Connection, rows: &Rows) -> Result<()> {
    let row = &rows.consultation;
    let existing = ExistingRow::find(connection, &row.id)?;
    if let Some(existing) = &existing {
        existing.delete(connection)?;
    }
    let number = insert(connection, rows)?;
    connection
        .prepare_cached(
            "INSERT INTO consultations_text(rowid, question, final_recommendation) \
             VALUES (?1, ?2, ?3)",
        )?
        .execute(params![number, row.question, row.final_recommendation])?;
    if let Some(existing) = existing {
        write_grade(connection, &row.id, existing.grade)?;
    }
    if row.completion != Completion::Unfinished {
        close(connection, &row.id)?;
    }
    Ok(())
}

/// Deletes all rows of a consultation. Returns false when there were none.
pub fn remove(connection: &Connection, id: &str) -> Result<bool> {
    close(connection, id)?;
    match ExistingRow::find(connection, id)? {
        Some(existing) => existing.delete(connection).map(|()| true),
        None => Ok(false),
    }
}

/// Deletes all rows of several consultations, in a transaction of its own.
pub fn remove_all(index: &mut Index, ids: &[&ConsultationId]) -> Result<()> {
    let connection = &mut index.connection;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for id in ids {
        remove(&transaction, id.as_str())?;
    }
    transaction.commit()
}

/// Stores the grade of a consultation's answer, or removes it.
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
    connection
        .prepare_cached(
            "UPDATE consultations SET outcome = ?2, outcome_note = ?3, outcome_at = ?4 \
             WHERE id = ?1",
        )?
        .execute(params![id, outcome, note, at])
        .map(drop)
}

/// The values of an existing row that deleting it needs, and its grade.
struct ExistingRow {
    number: i64,
    question: String,
    final_recommendation: Option<String>,
    grade: [Option<String>; 3],
}

impl ExistingRow {
    fn find(connection: &Connection, id: &str) -> Result<Option<Self>> {
        let sql = "SELECT number, question, final_recommendation, \
            outcome, outcome_note, outcome_at \
            FROM consultations WHERE id = ?1";
        let existing = |row: &rusqlite::Row<'_>| {
            Ok(Self {
                number: row.get(0)?,
                question: row.get(1)?,
                final_recommendation: row.get(2)?,
                grade: [row.get(3)?, row.get(4)?, row.get(5)?],
            })
        };
        connection
            .prepare_cached(sql)?
            .query_row([id], existing)
            .optional()
    }

    fn delete(&self, connection: &Connection) -> Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO consultations_text(consultations_text, rowid, question, \
                 final_recommendation) \
                 VALUES ('delete', ?1, ?2, ?3)",
            )?
            .execute(params![
                self.number,
                self.question,
                self.final_recommendation
            ])?;
        for sql in [
            "DELETE FROM calls WHERE number = ?1",
            "DELETE FROM consultation_rounds WHERE number = ?1",
            "DELETE FROM consultation_agents WHERE number = ?1",
            "DELETE FROM consultations WHERE number = ?1",
        ] {
            connection.prepare_cached(sql)?.execute([self.number])?;
        }
        Ok(())
    }
}

/// Inserts all rows except the full text. Returns their key.
fn insert(connection: &Connection, rows: &Rows) -> Result<i64> {
    let row = &rows.consultation;
    let number = free_number(connection, row)?;
    insert_consultation(connection, number, row)?;
    for agent in &rows.agents {
        let columns: [(&str, &dyn ToSql); 8] = [
            ("number", &number),
            ("consultation_id", &row.id),
            ("agent_id", &agent.agent_id),
            ("model", &agent.model),
            ("provider", &agent.provider),
            ("role", &agent.role.name()),
            ("confidence", &agent.confidence),
            ("agrees", &agent.agrees),
        ];
        insert_row(connection, "consultation_agents", &columns)?;
    }
    for round in &rows.rounds {
        let columns: [(&str, &dyn ToSql); 8] = [
            ("number", &number),
            ("consultation_id", &row.id),
            ("round_number", &round.round_number),
            ("round_type", &round.round_type),
            ("duration_ms", &whole(round.duration_ms)),
            ("tokens_used", &whole(round.tokens_used)),
            ("micro_usd", &micro_usd(round.cost)),
            ("lower_bound", &lower_bound(round.cost)),
        ];
        insert_row(connection, "consultation_rounds", &columns)?;
    }
    for call in &rows.calls {
        let columns: [(&str, &dyn ToSql); 18] = [
            ("number", &number),
            ("call", &call.call),
            ("round_number", &call.round_number),
            ("agent_id", &call.agent_id),
            ("answer", &call.answer),
            ("purpose", &call.purpose),
            ("provider", &call.provider),
            ("model", &call.model),
            ("stop", &call.stop),
            ("failed", &call.failed),
            ("hedge_won", &call.hedge_won),
            ("micro_usd", &saturated(call.cost.known.0)),
            ("lower_bound", &call.cost.lower_bound),
            ("input_tokens", &saturated(call.input_tokens)),
            ("output_tokens", &saturated(call.output_tokens)),
            ("tokens_estimated", &call.tokens_estimated),
            ("first_token_ms", &whole(call.first_token_ms)),
            ("duration_ms", &whole(call.duration_ms)),
        ];
        insert_row(connection, "calls", &columns)?;
    }
    Ok(number)
}

fn insert_consultation(connection: &Connection, number: i64, row: &ConsultationRow) -> Result<()> {
    let columns: [(&str, &dyn ToSql); 33] = [
        ("number", &number),
        ("id", &row.id),
        ("question", &row.question),
        ("mode", &row.mode),
        ("final_recommendation", &row.final_recommendation),
        ("confidence", &row.confidence),
        ("total_cost", &row.cost.map(|cost| cost.known.usd())),
        ("total_micro_usd", &micro_usd(row.cost)),
        ("lower_bound", &lower_bound(row.cost)),
        ("total_tokens", &whole(row.total_tokens)),
        ("duration_ms", &whole(row.duration_ms)),
        ("created_at", &row.created_at.to_string()),
        ("schema_version", &row.schema_version),
        ("state", &row.state),
        ("ended", &row.completion.name()),
        ("status", &row.status),
        ("abort_reason", &row.abort_reason),
        ("project_type", &row.project_type),
        ("agreement", &row.agreement),
        ("dissent", &whole(row.dissent)),
        ("early_termination", &row.early_termination),
        ("saved_micro_usd", &whole(row.saved_micro_usd)),
        ("experts_heard", &saturated(row.debate.heard)),
        ("experts_changed", &saturated(row.debate.changed)),
        ("confidence_rise", &row.debate.rise),
        ("confidence_rise_of", &saturated(row.debate.rise_of)),
        ("verdict_changed", &row.verdict_changed),
        ("later_rounds_micro_usd", &micro_usd(row.later_rounds)),
        ("later_rounds_lower_bound", &lower_bound(row.later_rounds)),
        ("follow_up_of", &row.follow_up_of),
        ("context_tokens", &whole(row.context_tokens)),
        ("cache_saved_micro_usd", &row.cache_saved_micro_usd),
        ("cache_saved_incomplete", &row.cache_saved_incomplete),
    ];
    insert_row(connection, "consultations", &columns)
}

/// Inserts a row by the names of its columns.
fn insert_row(connection: &Connection, table: &str, columns: &[(&str, &dyn ToSql)]) -> Result<()> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let places = vec!["?"; columns.len()].join(", ");
    let sql = format!(
        "INSERT INTO {table}({}) VALUES ({places})",
        names.join(", ")
    );
    connection
        .prepare_cached(&sql)?
        .execute(params_from_iter(columns.iter().map(|(_, value)| value)))
        .map(drop)
}

/// Returns the key of a consultation, or the next free one: two that begin in one millisecond can
/// have the same hash.
fn free_number(connection: &Connection, row: &ConsultationRow) -> Result<i64> {
    let mut number = number(row.created_at, &row.id);
    let taken = &mut connection.prepare_cached("SELECT 1 FROM consultations WHERE number = ?1")?;
    while taken.exists([number])? {
        number += 1;
    }
    Ok(number)
}

/// Removes the mark of an open consultation.
fn close(connection: &Connection, id: &str) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM open_consultations WHERE id = ?1")?
        .execute([id])
        .map(drop)
}

fn saturated(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn whole(number: Option<u64>) -> Option<i64> {
    number.map(saturated)
}

fn micro_usd(cost: Option<Cost>) -> Option<i64> {
    cost.map(|cost| saturated(cost.known.0))
}

/// False where no cost is known.
fn lower_bound(cost: Option<Cost>) -> bool {
    cost.is_some_and(|cost| cost.lower_bound)
}
