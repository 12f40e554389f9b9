//! Making the index anew from the files, beside the old one, and putting it in its place when it is
//! complete.
//!
//! Consultations go on meanwhile and write to the old index: what has come or changed since its
//! file was read is read again before the swap, when nobody has either database open. Who writes a
//! record does so before the index, so whatever that does not see comes to the new index by itself.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::records::statistics::days::refresh;

use super::load::{Filled, Listed, fill};
use super::lock::{self, Building, Busy, Patience};
use super::open::{Index, Unusable};
use super::schema;
use super::sources;
use super::swap::{self, SwapError};

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub of: usize,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    pub indexed: usize,
    /// Files that have no rows, by name, each with why.
    pub skipped: Vec<(String, String)>,
    /// Where another program's database is now that was in the place of ours.
    pub set_aside: Option<PathBuf>,
}

/// Why there is no new index. The old one is as it was.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    #[error("the index `{}` is in use by another process", .0.display())]
    Busy(PathBuf),
    #[error("cannot read the folder `{}`", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot write the index `{}`", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("cannot make the index `{}`", path.display())]
    Failed {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error(transparent)]
    Unusable(#[from] Unusable),
}

/// Makes the index of a folder of logs anew.
pub fn rebuild(
    logs: &Path,
    database: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Rebuilt, RebuildError> {
    let building = building(database)?;
    build(&building, logs, database, progress)
}

/// Makes the index anew, unless another process has done it when its turn comes.
pub fn rebuild_unusable(
    logs: &Path,
    database: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Rebuilt>, RebuildError> {
    let building = building(database)?;
    match Index::open(database) {
        Ok(_) => Ok(None),
        Err(unusable) if unusable.is_mended_by_rebuilding() => {
            build(&building, logs, database, progress).map(Some)
        }
        Err(unusable) => Err(unusable.into()),
    }
}

/// Makes an index that is kept nowhere: for a home that cannot be written.
pub fn in_memory(logs: &Path) -> Result<(Index, Rebuilt), RebuildError> {
    let failed = |source| RebuildError::Failed {
        path: PathBuf::from(":memory:"),
        source,
    };
    let index = Index::in_memory().map_err(failed)?;
    let filled = fill(index.connection(), logs, &list(logs)?, &mut |_| {}).map_err(failed)?;
    Ok((index, filled.into_rebuilt()))
}

fn building(database: &Path) -> Result<Building, RebuildError> {
    lock::to_build(database, Patience::Long).map_err(|Busy| RebuildError::Busy(database.to_owned()))
}

fn build(
    building: &Building,
    logs: &Path,
    database: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Rebuilt, RebuildError> {
    let unwritable = |source| RebuildError::Unwritable {
        path: database.to_owned(),
        source,
    };
    let failed = |source| RebuildError::Failed {
        path: database.to_owned(),
        source,
    };
    if building.is_alone() {
        swap::remove_leftovers(database);
    }
    let new = swap::temporary(database).map_err(unwritable)?;
    let listed = list(logs)?;
    let mut connection = Connection::open(&new).map_err(failed)?;
    // Until it is in its place nothing of it has to last.
    connection
        .execute_batch("PRAGMA journal_mode = memory; PRAGMA synchronous = off;")
        .map_err(failed)?;
    schema::migrate(&mut connection, 0).map_err(failed)?;
    let mut filled = fill(&connection, logs, &listed, progress).map_err(failed)?;
    refresh(&mut connection).map_err(failed)?;
    // The bulk of it, while others still use the old one.
    swap::sync(&new).map_err(unwritable)?;

    let _alone = building
        .alone(Patience::Usual)
        .map_err(|Busy| RebuildError::Busy(database.to_owned()))?;
    let listed = list(logs)?;
    catch_up(&mut connection, &mut filled, logs, &listed)
        .and_then(|()| close(connection))
        .map_err(failed)?;
    swap::sync(&new).map_err(unwritable)?;
    let set_aside = swap::put_in_place(new, database).map_err(|error| match error {
        SwapError::Busy => RebuildError::Busy(database.to_owned()),
        SwapError::Failed(source) => unwritable(source),
    })?;
    Ok(Rebuilt {
        set_aside,
        ..filled.into_rebuilt()
    })
}

fn list(logs: &Path) -> Result<Listed, RebuildError> {
    sources::list(logs).map_err(|source| RebuildError::Folder {
        path: logs.to_owned(),
        source,
    })
}

fn catch_up(
    connection: &mut Connection,
    filled: &mut Filled,
    logs: &Path,
    listed: &Listed,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    filled.catch_up(&transaction, logs, listed)?;
    transaction.commit()?;
    refresh(connection)
}

/// Closes the new database, with all that it has in its file, as it is used from now on.
fn close(connection: Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA locking_mode = normal;")?;
    connection.query_row("PRAGMA journal_mode = wal", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}
