//! Keeping the index in step with consultations that run: each is marked as open when it begins,
//! and when it ends its rows come and its mark goes, in one transaction. A mark whose process is
//! gone tells of a consultation that was killed: whoever reads next brings its rows.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;
use crate::records::files::ConsultationFiles;
use crate::records::lookup;

use super::extract::{self, NotIndexable};
use super::open::Index;
use super::sources::{self, Told};
use super::store;

/// Why a consultation is not in the index.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    #[error(transparent)]
    NotIndexable(#[from] NotIndexable),
    #[error(transparent)]
    Failed(#[from] rusqlite::Error),
}

/// Marks a consultation as begun.
pub fn begin(index: &mut Index, id: &ConsultationId, at: Timestamp) -> rusqlite::Result<()> {
    // Without a sync: what a lost power supply takes of it is found again when the index is made
    // anew.
    let transaction = index
        .connection_mut()
        .transaction_with_behavior(TransactionBehavior::Immediate)?;
    mark(&transaction, id.as_str(), at)?;
    transaction.commit()
}

/// Takes in a consultation that has ended, as its record tells it, on the disk when this returns.
pub fn end(
    index: &mut Index,
    id: &ConsultationId,
    record: &[u8],
    written_at: Timestamp,
) -> Result<(), NotTaken> {
    let rows = extract::rows(record, id.as_str(), written_at)?;
    let connection = index.connection_mut();
    // No mark would be left of rows that a lost power supply takes.
    connection.pragma_update(None, "synchronous", "full")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    store::put(&transaction, &rows)?;
    unmark(&transaction, id.as_str())?;
    transaction.commit()?;
    connection.pragma_update(None, "synchronous", "normal")?;
    Ok(())
}

/// Brings the rows of consultations that have begun and whose processes are gone. Returns how many.
pub fn reconcile(index: &mut Index, logs: &Path) -> rusqlite::Result<usize> {
    let open: Vec<(String, String)> = {
        let mut statement = index
            .connection()
            .prepare("SELECT id, began_at FROM open_consultations")?;
        let open = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        open.collect::<rusqlite::Result<_>>()?
    };
    let mut brought = 0;
    for (id, began_at) in open {
        let found = sources::find(
            logs,
            &id,
            &sources::stamps(logs, &id, sources::of(logs, &id)),
        );
        if found.is_open {
            continue;
        }
        let transaction = index
            .connection_mut()
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        brought += usize::from(bring(&transaction, &id, found.told)?);
        // Whoever has gone on with it meanwhile has marked it anew.
        transaction.execute(
            "DELETE FROM open_consultations WHERE id = ?1 AND began_at = ?2",
            [&id, &began_at],
        )?;
        transaction.commit()?;
    }
    Ok(brought)
}

fn bring(
    transaction: &Transaction<'_>,
    stem: &str,
    told: Option<Result<Told, String>>,
) -> rusqlite::Result<bool> {
    // What cannot be read is told when the index is made anew.
    let Some(Ok(Told {
        json, written_at, ..
    })) = told
    else {
        return Ok(false);
    };
    let Ok(rows) = extract::rows(&json, stem, written_at) else {
        return Ok(false);
    };
    store::put(transaction, &rows)?;
    Ok(true)
}

pub(super) fn mark(connection: &Connection, id: &str, at: Timestamp) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO open_consultations(id, began_at) VALUES (?1, ?2)";
    connection.execute(sql, [id, &at.to_string()]).map(drop)
}

pub(super) fn unmark(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    connection
        .execute("DELETE FROM open_consultations WHERE id = ?1", [id])
        .map(drop)
}

/// When the consultation of a journal began.
pub(super) fn began_at(logs: &Path, stem: &str) -> Option<Timestamp> {
    let id = ConsultationId::from_unique(stem.strip_prefix("consult-")?);
    lookup::opening(&ConsultationFiles::in_folder(logs, &id)).map(|opening| opening.at)
}
