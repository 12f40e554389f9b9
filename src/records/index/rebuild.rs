//! Rebuilds the index from the files, in one write transaction on the database itself: others read
//! the old rows until it commits, and an interrupted rebuild changes nothing.
//!
//! Processes that want to write wait for the commit. Each writes its files before its rows, so
//! whatever the rebuild did not see reaches the index afterwards.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Result as SqlResult, TransactionBehavior};

use crate::domain::time::Timestamp;
use crate::records::files::{self, LogFolder};
use crate::records::outcomes;

use super::open::{self, Index, IndexError, WaitLimit, is_damage};
use super::sources::{self, SourceLookup};
use super::{follow, foreign, schema, store};

/// Consultations that are read ahead of the writer, and steps between two reports of progress.
const AHEAD: usize = 64;

/// The progress of a rebuild, in consultations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebuildProgress {
    pub done: usize,
    pub of: usize,
}

/// The result of a rebuild.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebuildReport {
    pub indexed: usize,
    /// Files without rows, by name, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// The new path of another program's database that had the index's name.
    pub set_aside: Option<PathBuf>,
}

pub fn rebuild(
    logs: &Path,
    database: &Path,
    progress: &mut dyn FnMut(RebuildProgress),
) -> Result<RebuildReport, IndexError> {
    rebuild_where(logs, database, progress, |_| Ok(true)).map(Option::unwrap_or_default)
}

/// Rebuilds the index, unless another process has done so meanwhile.
pub fn rebuild_if_unusable(
    logs: &Path,
    database: &Path,
    progress: &mut dyn FnMut(RebuildProgress),
) -> Result<Option<RebuildReport>, IndexError> {
    rebuild_where(logs, database, progress, |connection| {
        match open::check(connection, database) {
            Ok(()) => Ok(false),
            Err(error) if error.is_fixed_by_rebuild() => Ok(true),
            Err(error) => Err(error),
        }
    })
}

/// Builds an index in memory, for a home that cannot be written.
pub fn build_in_memory(logs: &Path) -> Result<(Index, RebuildReport), IndexError> {
    let failed = |error| IndexError::of(Path::new(":memory:"), error);
    let index = Index::in_memory().map_err(failed)?;
    let report = fill(&index.connection, logs, list(logs)?, &mut |_| {}).map_err(failed)?;
    Ok((index, report))
}

/// Rebuilds the index if a condition holds once no other process writes to it.
fn rebuild_where(
    logs: &Path,
    database: &Path,
    progress: &mut dyn FnMut(RebuildProgress),
    is_needed: impl FnOnce(&Connection) -> Result<bool, IndexError>,
) -> Result<Option<RebuildReport>, IndexError> {
    let failed = |error| IndexError::of(database, error);
    let unwritable = |error: io::Error| IndexError::failed("write", database, error);
    let set_aside = foreign::set_aside(database).map_err(unwritable)?;
    create(database).map_err(unwritable)?;
    let mut connection = connect(database).map_err(failed)?;
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    if !is_needed(&transaction)? {
        return Ok(None);
    }
    // Listed only now: what other processes write from here on, they index after the commit.
    let stored = list(logs)?;
    schema::recreate(&transaction).map_err(failed)?;
    let report = fill(&transaction, logs, stored, progress).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    // The log is as long as the database now. Readers of the old rows may still need it.
    let _ = connection.busy_timeout(Duration::ZERO);
    let _ = connection.query_row("PRAGMA wal_checkpoint(truncate)", [], |_| Ok(()));
    Ok(Some(RebuildReport {
        set_aside,
        ..report
    }))
}

fn list(logs: &Path) -> Result<LogFolder, IndexError> {
    files::list(logs).map_err(|source| IndexError::Logs {
        path: logs.to_owned(),
        source,
    })
}

/// Readable by its owner alone.
fn create(database: &Path) -> io::Result<()> {
    let mut options = File::options();
    options.append(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(database) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A damaged database is emptied first.
fn connect(database: &Path) -> SqlResult<Connection> {
    let connection = Connection::open_with_flags(database, open::FLAGS)?;
    connection.busy_timeout(WaitLimit::Usual.time())?;
    // Statistics read whole indexes: with larger pages in half the reads. It counts for a new file.
    connection.pragma_update(None, "page_size", 8192)?;
    if !is_intact(&connection)? {
        // Under the locks of SQLite, unlike the removal of the file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
        connection.execute_batch("VACUUM")?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
    }
    // Another process that is opening it at this moment may prevent it: the next user sets it.
    let _ = connection.query_row("PRAGMA journal_mode = wal", [], |_| Ok(()));
    connection.execute_batch(
        "PRAGMA synchronous = normal; PRAGMA foreign_keys = off; PRAGMA cache_size = -65536;",
    )?;
    Ok(connection)
}

fn is_intact(connection: &Connection) -> SqlResult<bool> {
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match checked {
        Ok(result) => Ok(result == "ok"),
        Err(error) if is_damage(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// One thread reads and parses, this one writes.
fn fill(
    connection: &Connection,
    logs: &Path,
    stored: LogFolder,
    progress: &mut dyn FnMut(RebuildProgress),
) -> SqlResult<RebuildReport> {
    let of = stored.newest_first.len();
    let mut report = RebuildReport {
        skipped: stored.skipped,
        ..RebuildReport::default()
    };
    // Their rows are inserted fastest by time.
    let ids = stored.newest_first.iter().rev();
    let sources = ids.map(|id| sources::find(logs, id));
    progress(RebuildProgress { done: 0, of });
    thread::scope(|scope| -> SqlResult<()> {
        let (sender, all) = mpsc::sync_channel(AHEAD);
        let here = sources.clone();
        let reader = thread::Builder::new().spawn_scoped(scope, move || {
            for source in sources {
                if sender.send(source).is_err() {
                    // The writer has failed.
                    break;
                }
            }
        });
        // Where the system has no thread left, this one reads too.
        let here = reader.is_err().then_some(here).into_iter().flatten();
        for (done, source) in (1..).zip(all.into_iter().chain(here)) {
            report.add(connection, logs, source)?;
            if done % AHEAD == 0 || done == of {
                progress(RebuildProgress { done, of });
            }
        }
        Ok(())
    })?;
    report.skipped.sort_unstable();
    Ok(report)
}

impl RebuildReport {
    fn add(&mut self, connection: &Connection, logs: &Path, source: SourceLookup) -> SqlResult<()> {
        let SourceLookup {
            id,
            file,
            rows,
            is_open,
        } = source;
        match rows {
            Some(Ok(rows)) => {
                store::put(connection, &rows)?;
                if let Some(grade) = outcomes::read(logs, &id) {
                    store::set_outcome(connection, id.as_str(), Some(&grade))?;
                }
                self.indexed += 1;
            }
            Some(Err(why)) => self.skipped.push((file, why)),
            None => {}
        }
        if is_open {
            let began_at = follow::began_at(logs, &id).unwrap_or(Timestamp(0));
            follow::mark(connection, id.as_str(), began_at)?;
        }
        Ok(())
    }
}
