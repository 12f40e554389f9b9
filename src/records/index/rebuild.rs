//! Rebuilds the index from the files: a new database is filled beside the old one and replaces it
//! when it is complete.
//!
//! Consultations run meanwhile and write to the old index. Files that are new or changed since they
//! were read are read again before the swap, while no process has either database open. A process
//! writes its record before its index rows, so whatever that second read misses reaches the new
//! index directly.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::load::{NewIndex, SourceList, load};

use super::lock::{self, BuildLock, BusyError, WaitLimit};
use super::open::{Index, OpenError};
use super::schema;
use super::sources;
use super::swap::{self, SwapError};

pub use super::load::{RebuildProgress, RebuildReport};

/// The reason why a rebuild failed. The old index is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    #[error("the index `{}` is in use by another process", .0.display())]
    Busy(PathBuf),
    #[error("cannot read the folder `{}`", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot write the index `{}`", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("cannot create the index `{}`", path.display())]
    Failed {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Rebuilds the index of a folder of logs.
pub fn rebuild(
    logs: &Path,
    database: &Path,
    progress: &mut dyn FnMut(RebuildProgress),
) -> Result<RebuildReport, RebuildError> {
    let lock = lock_for_build(database)?;
    build(&lock, logs, database, progress)
}

/// Rebuilds the index, unless another process has done so meanwhile.
pub fn rebuild_if_unusable(
    logs: &Path,
    database: &Path,
    progress: &mut dyn FnMut(RebuildProgress),
) -> Result<Option<RebuildReport>, RebuildError> {
    let lock = lock_for_build(database)?;
    match Index::open(database) {
        Ok(_) => Ok(None),
        Err(error) if error.is_fixed_by_rebuild() => {
            build(&lock, logs, database, progress).map(Some)
        }
        Err(error) => Err(error.into()),
    }
}

/// Builds an index in memory, for a home that cannot be written.
pub fn build_in_memory(logs: &Path) -> Result<(Index, RebuildReport), RebuildError> {
    let failed = |source| RebuildError::Failed {
        path: PathBuf::from(":memory:"),
        source,
    };
    let index = Index::in_memory().map_err(failed)?;
    let new = load(index.connection(), logs, &list(logs)?, &mut |_| {}).map_err(failed)?;
    Ok((index, new.into_report()))
}

fn lock_for_build(database: &Path) -> Result<BuildLock, RebuildError> {
    lock::to_build(database, WaitLimit::Long)
        .map_err(|BusyError| RebuildError::Busy(database.to_owned()))
}

fn build(
    lock: &BuildLock,
    logs: &Path,
    database: &Path,
    progress: &mut dyn FnMut(RebuildProgress),
) -> Result<RebuildReport, RebuildError> {
    let unwritable = |source| RebuildError::Unwritable {
        path: database.to_owned(),
        source,
    };
    let failed = |source| RebuildError::Failed {
        path: database.to_owned(),
        source,
    };
    if lock.is_effective() {
        swap::remove_leftovers(database);
    }
    let file = swap::temporary(database).map_err(unwritable)?;
    let sources = list(logs)?;
    let mut connection = Connection::open(&file).map_err(failed)?;
    // Nothing has to be durable before the swap.
    connection
        .execute_batch("PRAGMA journal_mode = memory; PRAGMA synchronous = off;")
        .map_err(failed)?;
    schema::migrate(&mut connection, 0).map_err(failed)?;
    let mut new = load(&connection, logs, &sources, progress).map_err(failed)?;
    // Most of the data, while others still use the old database.
    swap::sync(&file).map_err(unwritable)?;

    let _exclusive = lock
        .exclusive(WaitLimit::Usual)
        .map_err(|BusyError| RebuildError::Busy(database.to_owned()))?;
    let sources = list(logs)?;
    catch_up(&mut connection, &mut new, logs, &sources)
        .and_then(|()| close(connection))
        .map_err(failed)?;
    swap::sync(&file).map_err(unwritable)?;
    let set_aside = swap::put_in_place(file, database).map_err(|error| match error {
        SwapError::Busy => RebuildError::Busy(database.to_owned()),
        SwapError::Failed(source) => unwritable(source),
    })?;
    Ok(RebuildReport {
        set_aside,
        ..new.into_report()
    })
}

fn list(logs: &Path) -> Result<SourceList, RebuildError> {
    sources::list(logs).map_err(|source| RebuildError::Folder {
        path: logs.to_owned(),
        source,
    })
}

fn catch_up(
    connection: &mut Connection,
    new: &mut NewIndex,
    logs: &Path,
    sources: &SourceList,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    new.catch_up(&transaction, logs, sources)?;
    transaction.commit()
}

/// Closes the new database with all data in its one file, and in the journal mode it is used with.
fn close(connection: Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA locking_mode = normal;")?;
    connection.query_row("PRAGMA journal_mode = wal", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}
