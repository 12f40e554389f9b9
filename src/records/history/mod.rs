//! Queries of the index for single consultations: their list, newest first, and their ids.

mod search;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Result, Row, params_from_iter};

use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::ids::ConsultationId;
use crate::domain::names::{by_stored_name, stored_name};
use crate::domain::record::history::{EntryOutcome, HistoryRow};
use crate::domain::record::outcome::AnswerOutcome;
use crate::domain::record::stored_record::Completion;
use crate::domain::time::Timestamp;

use super::index::rows;

pub use search::{EmptySearchError, Search};

/// Selects consultations; all where every field is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub state: Option<Completion>,
    pub mode: Option<String>,
    pub search: Option<Search>,
    /// A part of the name of a model that took part.
    pub model: Option<String>,
    /// Only consultations that began then or later.
    pub since: Option<Timestamp>,
    /// Only consultations that began earlier.
    pub before: Option<Timestamp>,
    /// The least and the most that is known to be spent.
    pub cost: (Option<MicroUsd>, Option<MicroUsd>),
    /// Only consultations that made a call, or that made none.
    pub calls: Option<bool>,
}

const COLUMNS: &str = "c.number, c.id, c.question, c.mode, c.final_recommendation, \
    c.confidence, c.total_micro_usd, c.lower_bound, c.by_plan, c.total_tokens, c.duration_ms, c.state, \
    c.ended, c.status, c.abort_reason, c.outcome, c.outcome_note, c.follow_up_of, c.rejudged_from, \
    (SELECT group_concat(f.id, ' ') FROM consultations f WHERE f.follow_up_of = c.id) \
    AS follow_ups, \
    EXISTS (SELECT 1 FROM consultation_agents a WHERE a.number = c.number AND \
    a.provider = 'local') AS demonstration";

/// Newest first, at most `limit` of them.
pub fn list(
    connection: &Connection,
    filter: &Filter,
    limit: Option<usize>,
) -> Result<Vec<HistoryRow>> {
    list_from(connection, filter, 0, limit)
}

/// Newest first, without the `skipped` newest, at most `limit` of them.
pub fn list_from(
    connection: &Connection,
    filter: &Filter,
    skipped: usize,
    limit: Option<usize>,
) -> Result<Vec<HistoryRow>> {
    let Query {
        tables,
        conditions,
        mut values,
        key,
    } = Query::of(filter);
    let number = |rows| Value::Integer(i64::try_from(rows).unwrap_or(i64::MAX));
    values.push(limit.map_or(Value::Integer(-1), number));
    values.push(number(skipped));
    let sql = format!(
        "SELECT {COLUMNS} FROM {tables} WHERE {conditions} ORDER BY {key} DESC LIMIT ? OFFSET ?"
    );
    connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), history_row)?
        .collect()
}

pub fn count(connection: &Connection, filter: &Filter) -> Result<u64> {
    let Query {
        tables,
        conditions,
        values,
        ..
    } = Query::of(filter);
    // The full-text index alone counts several times as fast as joined with its rows.
    let is_search_alone = *filter
        == Filter {
            search: filter.search.clone(),
            ..Filter::default()
        };
    let has_pieces = filter
        .search
        .as_ref()
        .is_none_or(|search| search.words.is_none() || !search.pieces.is_empty());
    let tables = if is_search_alone && !has_pieces {
        "consultations_text"
    } else {
        tables
    };
    let sql = format!("SELECT count(*) FROM {tables} WHERE {conditions}");
    connection
        .prepare_cached(&sql)?
        .query_row(params_from_iter(values), |row| row.get(0))
}

pub fn with_id(connection: &Connection, id: &str) -> Result<Option<HistoryRow>> {
    let sql = format!("SELECT {COLUMNS} FROM consultations c WHERE c.id = ?");
    connection
        .prepare_cached(&sql)?
        .query_row([id], history_row)
        .optional()
}

/// Consultations with the words of a question that are looked at.
const MOST_ASKED_AGAIN: usize = 50;

/// Pieces of text that get a condition each.
const MAX_CONDITIONS: usize = 8;

struct Query {
    tables: &'static str,
    conditions: String,
    values: Vec<Value>,
    /// The key to order by: that of the table that the query scans.
    key: &'static str,
}

impl Query {
    fn of(filter: &Filter) -> Self {
        let Filter {
            state,
            mode,
            search,
            model,
            since,
            before,
            cost: (least, most),
            calls,
        } = filter;
        let (mut conditions, mut values) = (Vec::new(), Vec::new());
        let mut require = |condition: &str, value: Vec<Value>| {
            conditions.push(condition.to_owned());
            values.extend(value);
        };
        let words = search.as_ref().and_then(|search| search.words.clone());
        let (tables, key) = if words.is_some() {
            (
                "consultations_text CROSS JOIN consultations c \
                 ON c.number = consultations_text.rowid",
                "consultations_text.rowid",
            )
        } else {
            ("consultations c", "c.number")
        };
        if let Some(words) = words {
            require("consultations_text MATCH ?", vec![Value::Text(words)]);
        }
        if let Some(state) = state {
            require("c.ended = ?", vec![Value::Text(stored_name(state))]);
        }
        if let Some(mode) = mode {
            require("c.mode = ?", vec![Value::Text(mode.clone())]);
        }
        for (at, is) in [(since, ">="), (before, "<")] {
            if let Some(at) = at {
                let number = Value::Integer(rows::first_number(*at));
                require(&format!("{key} {is} ?"), vec![number]);
            }
        }
        for (amount, is) in [(least, ">="), (most, "<=")] {
            if let Some(amount) = amount {
                let amount = Value::Integer(i64::try_from(amount.0).unwrap_or(i64::MAX));
                require(&format!("c.total_micro_usd {is} ?"), vec![amount]);
            }
        }
        if let Some(model) = model {
            let took_part = "EXISTS (SELECT 1 FROM consultation_agents a WHERE \
                a.number = c.number AND instr(a.provider || ':' || a.model, ?))";
            require(took_part, vec![Value::Text(model.clone())]);
        }
        if let Some(calls) = calls {
            // The others have ended with an answer, or are not at their end.
            let none = "c.ended IN ('aborted', 'declined') AND \
                NOT EXISTS (SELECT 1 FROM calls k WHERE k.number = c.number)";
            let is = if *calls { "NOT" } else { "" };
            require(&format!("{is} ({none})"), Vec::new());
        }
        let pieces = search
            .iter()
            .flat_map(|search| &search.pieces)
            .collect::<Vec<_>>();
        // Single conditions are faster; a statement holds only so many.
        let (few, many) = pieces.split_at(pieces.len().min(MAX_CONDITIONS));
        for piece in few {
            let piece = Value::Text((*piece).clone());
            require(
                "(instr(c.question, ?) OR instr(coalesce(c.final_recommendation, ''), ?))",
                vec![piece.clone(), piece],
            );
        }
        if !many.is_empty() {
            require(
                "NOT EXISTS (SELECT 1 FROM json_each(?) AS piece \
                 WHERE instr(c.question, piece.value) = 0 AND \
                 instr(coalesce(c.final_recommendation, ''), piece.value) = 0)",
                vec![Value::Text(serde_json::json!(many).to_string())],
            );
        }
        let conditions = if conditions.is_empty() {
            "1".to_owned()
        } else {
            conditions.join(" AND ")
        };
        Self {
            tables,
            conditions,
            values,
            key,
        }
    }
}

/// Which process runs and what can be resumed, only the files tell.
fn history_row(row: &Row<'_>) -> Result<HistoryRow> {
    let text = |at: &str| row.get::<_, String>(at);
    let known = |at: &str| text(at).map(|text| Some(text).filter(|text| !text.is_empty()));
    let id: ConsultationId = row.get("id")?;
    let ended = text("ended")?;
    let run_status: Option<Completion> = by_stored_name(&ended);
    let cost: Option<u64> = row.get("total_micro_usd")?;
    let (lower_bound, by_plan) = (row.get("lower_bound")?, row.get("by_plan")?);
    let outcome: Option<String> = row.get("outcome")?;
    let outcome: Option<AnswerOutcome> = outcome.as_deref().and_then(by_stored_name);
    let note = row.get("outcome_note")?;
    Ok(HistoryRow {
        short_id: id.to_string(),
        consultation_id: id,
        timestamp: rows::began_at(row.get("number")?),
        question: text("question")?,
        mode: known("mode")?,
        run_status: run_status.unwrap_or(Completion::Unfinished),
        state: known("state")?,
        status: row.get("status")?,
        resumable: false,
        recommendation: row.get("final_recommendation")?,
        confidence: row.get("confidence")?,
        cost: cost.map(|known| {
            let known = MicroUsd(known);
            Cost {
                known,
                lower_bound,
                by_plan,
            }
            .into()
        }),
        total_tokens: row.get("total_tokens")?,
        duration_ms: row.get("duration_ms")?,
        abort_reason: row.get("abort_reason")?,
        outcome: outcome.map(|outcome| EntryOutcome { outcome, note }),
        demonstration: row.get("demonstration")?,
        follow_up_of: row.get("follow_up_of")?,
        rejudged_from: row.get("rejudged_from")?,
        follow_ups: ids(row.get("follow_ups")?),
    })
}

/// Our ids sort by time.
fn ids(text: Option<String>) -> Vec<String> {
    let text = text.unwrap_or_default();
    let mut ids: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    ids.sort();
    ids
}

/// Returns the consultations that follow up the one with this id, the first first.
pub fn follow_ups(connection: &Connection, id: &str) -> Result<Vec<String>> {
    let sql = "SELECT id FROM consultations WHERE follow_up_of = ? ORDER BY id";
    connection
        .prepare_cached(sql)?
        .query_map([id], |row| row.get(0))?
        .collect()
}

/// Returns the other consultations of the same question, the newest first, at most `most` of them.
pub fn same_question(
    connection: &Connection,
    id: &str,
    question: &str,
    most: usize,
) -> Result<Vec<HistoryRow>> {
    // The full-text index is asked for the words, since the questions themselves have none.
    let words = format!("\"{}\"", question.replace('"', " "));
    let Ok(search) = Search::parse(&words) else {
        return Ok(Vec::new());
    };
    let filter = Filter {
        search: Some(search),
        ..Filter::default()
    };
    let found = list(connection, &filter, Some(MOST_ASKED_AGAIN))?;
    let is_same = |row: &HistoryRow| row.consultation_id.as_str() != id && row.question == question;
    Ok(found.into_iter().filter(is_same).take(most).collect())
}

/// A running consultation has no rows yet.
pub fn newest(connection: &Connection) -> Result<Option<ConsultationId>> {
    let sql = "SELECT id FROM (SELECT * FROM (SELECT id, created_at AS began_at \
        FROM consultations ORDER BY number DESC LIMIT 1) UNION SELECT * \
        FROM (SELECT id, began_at FROM open_consultations ORDER BY began_at DESC LIMIT 1)) \
        ORDER BY began_at DESC LIMIT 1";
    connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))
        .optional()
}

/// By id, the last first: our ids sort by time.
pub fn with_prefix(connection: &Connection, prefix: &str) -> Result<Vec<ConsultationId>> {
    // No id with the prefix sorts behind this: no character sorts behind the last one.
    let end = format!("{prefix}{}", char::MAX);
    let sql = "SELECT id FROM consultations WHERE id BETWEEN ?1 AND ?2 \
         UNION SELECT id FROM open_consultations WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC";
    connection
        .prepare_cached(sql)?
        .query_map((prefix, end), |row| row.get(0))?
        .collect()
}

/// When a consultation began, and with which question.
pub type Began = (Timestamp, String);

/// Ids for shell completion, newest first, at most `limit` of them.
pub fn id_candidates(
    connection: &Connection,
    prefix: &str,
    complete: CompleteEntries,
    limit: u32,
) -> Result<Vec<(ConsultationId, Began)>> {
    let end = format!("{prefix}{}", char::MAX);
    let only = match complete {
        CompleteEntries::Included => "",
        CompleteEntries::Excluded => "AND ended <> 'completed'",
    };
    let sql = format!(
        "SELECT id, number, question FROM consultations WHERE id BETWEEN ? AND ? {only} \
         ORDER BY id DESC LIMIT ?"
    );
    let candidate = |row: &Row<'_>| {
        let began = (rows::began_at(row.get(1)?), row.get(2)?);
        Ok((row.get(0)?, began))
    };
    connection
        .prepare_cached(&sql)?
        .query_map((prefix, end, limit), candidate)?
        .collect()
}

/// The treatment of complete consultations in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompleteEntries {
    Included,
    Excluded,
}

/// Returns the shortest prefix that no other id has, of at least `least` bytes.
pub fn unique_prefix<'a>(connection: &Connection, id: &'a str, least: usize) -> Result<&'a str> {
    for prefix in (least..id.len()).filter_map(|length| id.get(..length)) {
        let mut others = with_prefix(connection, prefix)?.into_iter();
        if others.all(|other| other.as_str() == id) {
            return Ok(prefix);
        }
    }
    Ok(id)
}

/// Returns the ids of consultations that were started and have no rows yet, newest first: each is
/// running or was killed.
pub fn open_consultations(connection: &Connection) -> Result<Vec<ConsultationId>> {
    let sql = "SELECT id FROM open_consultations ORDER BY began_at DESC";
    connection
        .prepare_cached(sql)?
        .query_map([], |row| row.get(0))?
        .collect()
}
