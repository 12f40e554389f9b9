//! Keeps the index in step with running consultations. A consultation is marked as open when it
//! starts; when it ends, its rows are inserted and the mark is removed in one transaction. A mark
//! without a live process belongs to a killed consultation: the next reader inserts its rows.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::domain::time::Timestamp;
use crate::records::files::ConsultationFiles;
use crate::records::journal::ends;

use super::open::Index;
use super::rows::Rows;
use super::{extract, sources, store};

/// A change of a consultation that the index follows.
#[derive(Clone, Debug)]
pub enum IndexChange {
    /// It has begun, and is marked as open.
    Begun(ConsultationId, Timestamp),
    /// It has ended, with these rows.
    Ended(ConsultationId, Box<Rows>),
}

impl IndexChange {
    pub fn ended(id: &ConsultationId, record: &StoredRecord, written_at: Timestamp) -> Self {
        let rows = extract::rows(record, written_at);
        Self::Ended(id.clone(), Box::new(rows))
    }
}

/// Rows of ended consultations are durable when this returns; marks need not be: one lost with the
/// power is found again at the next rebuild.
pub fn apply(index: &mut Index, changes: &[IndexChange]) -> rusqlite::Result<()> {
    let connection = &mut index.connection;
    let has_rows = changes
        .iter()
        .any(|change| matches!(change, IndexChange::Ended(..)));
    if has_rows {
        // Rows lost with the power would leave no mark.
        connection.pragma_update(None, "synchronous", "full")?;
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for change in changes {
        match change {
            IndexChange::Begun(id, at) => mark(&transaction, id.as_str(), *at)?,
            IndexChange::Ended(id, rows) => {
                store::put(&transaction, rows)?;
                transaction.execute(
                    "DELETE FROM open_consultations WHERE id = ?1",
                    [id.as_str()],
                )?;
            }
        }
    }
    transaction.commit()?;
    if has_rows {
        connection.pragma_update(None, "synchronous", "normal")?;
    }
    Ok(())
}

/// Returns their number.
pub fn reconcile(index: &mut Index, logs: &Path) -> rusqlite::Result<usize> {
    let open: Vec<(ConsultationId, String)> = {
        let mut statement = index
            .connection
            .prepare("SELECT id, began_at FROM open_consultations")?;
        let open = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        open.collect::<rusqlite::Result<_>>()?
    };
    let mut inserted = 0;
    for (id, began_at) in open {
        let source = sources::find(logs, &id);
        if source.is_open {
            continue;
        }
        let transaction = index
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        // A rebuild reports what cannot be read.
        if let Some(Ok(rows)) = source.rows {
            store::put(&transaction, &rows)?;
            inserted += 1;
        }
        // A process that has resumed it meanwhile has set a new mark.
        transaction.execute(
            "DELETE FROM open_consultations WHERE id = ?1 AND began_at = ?2",
            [id.as_str(), &began_at],
        )?;
        transaction.commit()?;
    }
    Ok(inserted)
}

pub(super) fn mark(connection: &Connection, id: &str, at: Timestamp) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO open_consultations(id, began_at) VALUES (?1, ?2)";
    connection.execute(sql, [id, &at.to_string()]).map(drop)
}

pub(super) fn began_at(logs: &Path, id: &ConsultationId) -> Option<Timestamp> {
    ends::opening(&ConsultationFiles::in_folder(logs, id).journal).map(|opening| opening.at)
}
