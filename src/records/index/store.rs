//! Inserts, replaces and deletes the rows of a consultation, within a transaction of the caller.
//!
//! The full-text index stores no text: to remove a row from it, it needs the original text. So the
//! old row is read before it is deleted.

use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::domain::money::Cost;
use crate::domain::outcome::Grade;
use crate::domain::stored_record::Completion;

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
    let agents = &mut connection.prepare_cached(
        "INSERT INTO consultation_agents(number, consultation_id, agent_id, model, provider, role, \
         confidence, agrees) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for agent in &rows.agents {
        agents.execute(params![
            number,
            row.id,
            agent.agent_id,
            agent.model,
            agent.provider,
            agent.role.name(),
            agent.confidence,
            agent.agrees
        ])?;
    }
    let rounds = &mut connection.prepare_cached(
        "INSERT INTO consultation_rounds(number, consultation_id, round_number, round_type, \
         duration_ms, tokens_used, micro_usd, lower_bound) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for round in &rows.rounds {
        rounds.execute(params![
            number,
            row.id,
            round.round_number,
            round.round_type,
            whole(round.duration_ms),
            whole(round.tokens_used),
            micro_usd(round.cost),
            lower_bound(round.cost),
        ])?;
    }
    let calls = &mut connection.prepare_cached(
        "INSERT INTO calls(number, call, round_number, agent_id, answer, purpose, provider, model, \
         stop, failed, hedge_won, micro_usd, lower_bound, input_tokens, output_tokens, \
         tokens_estimated, first_token_ms, duration_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, \
         ?18)",
    )?;
    for call in &rows.calls {
        calls.execute(params![
            number,
            call.call,
            call.round_number,
            call.agent_id,
            call.answer,
            call.purpose,
            call.provider,
            call.model,
            call.stop,
            call.failed,
            call.hedge_won,
            saturated(call.cost.known.0),
            call.cost.lower_bound,
            saturated(call.input_tokens),
            saturated(call.output_tokens),
            call.tokens_estimated,
            whole(call.first_token_ms),
            whole(call.duration_ms),
        ])?;
    }
    Ok(number)
}

fn insert_consultation(connection: &Connection, number: i64, row: &ConsultationRow) -> Result<()> {
    let insert = &mut connection.prepare_cached(
        "INSERT INTO consultations(number, id, stem, question, mode, final_recommendation, \
         confidence, total_cost, total_micro_usd, lower_bound, total_tokens, duration_ms, \
         created_at, schema_version, state, ended, status, abort_reason, project_type, \
         agreement, dissent, early_termination, saved_micro_usd, experts_heard, experts_changed, \
         confidence_rise, confidence_rise_of, verdict_changed, later_rounds_micro_usd, \
         later_rounds_lower_bound, follow_up_of, context_tokens, \
         cache_saved_micro_usd, cache_saved_incomplete) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
         ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34)",
    )?;
    insert
        .execute(params![
            number,
            row.id,
            row.stem,
            row.question,
            row.mode,
            row.final_recommendation,
            row.confidence,
            row.cost.map(|cost| cost.known.usd()),
            micro_usd(row.cost),
            lower_bound(row.cost),
            whole(row.total_tokens),
            whole(row.duration_ms),
            row.created_at.to_string(),
            row.schema_version,
            row.state,
            row.completion.name(),
            row.status,
            row.abort_reason,
            row.project_type,
            row.agreement,
            whole(row.dissent),
            row.early_termination,
            whole(row.saved_micro_usd),
            saturated(row.debate.heard),
            saturated(row.debate.changed),
            row.debate.rise,
            saturated(row.debate.rise_of),
            row.verdict_changed,
            micro_usd(row.later_rounds),
            lower_bound(row.later_rounds),
            row.follow_up_of,
            whole(row.context_tokens),
            row.cache_saved_micro_usd,
            row.cache_saved_incomplete,
        ])
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
