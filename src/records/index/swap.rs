//! Replaces the old database by a new one.
//!
//! Invariant: the caller holds the lock exclusively, and a process that is killed at any moment
//! leaves either the old database with its companion files, or the new one. `SQLite` finds the
//! write-ahead log by the database's name: a log that outlived its database would corrupt the new
//! one.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::OptionalExtension;

use crate::records::files::sync_folder;

use super::lock::WaitLimit;
use super::open::{self, OpenError, is_damage};

/// Suffixes of the files that `SQLite` uses beside a database.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The infix in the name of a new database until it is complete.
const TEMPORARY: &str = ".new-";

/// The reason why the database could not be replaced.
#[derive(Debug)]
pub(super) enum SwapError {
    Busy,
    Failed(io::Error),
}

impl From<io::Error> for SwapError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Creates a file for a new database beside the old one, readable by its owner alone.
pub(super) fn temporary(database: &Path) -> io::Result<tempfile::TempPath> {
    let mut prefix = database.file_name().unwrap_or_default().to_owned();
    prefix.push(TEMPORARY);
    Ok(tempfile::Builder::new()
        .prefix(&prefix)
        .tempfile_in(folder(database))?
        .into_temp_path())
}

/// Removes new databases that killed processes left. The caller holds the build lock.
pub(super) fn remove_leftovers(database: &Path) {
    let mut prefix = database.file_name().unwrap_or_default().to_owned();
    prefix.push(TEMPORARY);
    for entry in fs::read_dir(folder(database))
        .into_iter()
        .flatten()
        .flatten()
    {
        if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(prefix.as_encoded_bytes())
        {
            // A leftover costs disk space only.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Replaces the old database by a complete and closed one. Returns the new path of
/// another program's database that had its name.
pub(super) fn put_in_place(
    new: tempfile::TempPath,
    database: &Path,
) -> Result<Option<PathBuf>, SwapError> {
    let aside = match checkpoint_old(database)? {
        OldDatabase::Replaceable => None,
        OldDatabase::Foreign => Some(set_aside(database)?),
    };
    for ending in COMPANIONS {
        remove(&with_ending(database, ending))?;
    }
    // They must be gone before a database appears that they do not belong to.
    sync_folder(folder(database))?;
    new.persist(database).map_err(|error| error.error)?;
    sync_folder(folder(database))?;
    Ok(aside)
}

/// The state of the old database.
enum OldDatabase {
    /// Missing, broken, or checkpointed: its companion files hold nothing.
    Replaceable,
    Foreign,
}

/// Checkpoints the old database's log into its file, where the database is ours and usable.
fn checkpoint_old(database: &Path) -> Result<OldDatabase, SwapError> {
    let connection = match open::open_unchecked(database) {
        Ok(connection) => connection,
        Err(OpenError::Missing(_) | OpenError::Damaged { .. }) => {
            return Ok(OldDatabase::Replaceable);
        }
        Err(OpenError::Unreadable { source, .. }) => return Err(source.into()),
        Err(
            error @ (OpenError::Foreign(_)
            | OpenError::Newer { .. }
            | OpenError::Busy(_)
            | OpenError::Failed { .. }),
        ) => {
            return Err(io::Error::other(error).into());
        }
    };
    connection
        .busy_timeout(WaitLimit::Usual.time())
        .map_err(io::Error::other)?;
    match open::check(&connection, database) {
        Ok(_) | Err(OpenError::Newer { .. }) => {}
        Err(OpenError::Missing(_) | OpenError::Damaged { .. }) => {
            return Ok(OldDatabase::Replaceable);
        }
        Err(OpenError::Foreign(_)) => return Ok(OldDatabase::Foreign),
        Err(
            error @ (OpenError::Busy(_) | OpenError::Failed { .. } | OpenError::Unreadable { .. }),
        ) => {
            return Err(io::Error::other(error).into());
        }
    }
    match connection
        .query_row("PRAGMA wal_checkpoint(truncate)", [], |row| {
            row.get::<_, i64>(0)
        })
        .optional()
    {
        Ok(Some(1)) => Err(SwapError::Busy),
        Ok(_) => Ok(OldDatabase::Replaceable),
        Err(error) if is_damage(&error) => Ok(OldDatabase::Replaceable),
        Err(error) => Err(io::Error::other(error).into()),
    }
}

/// Renames another program's database, so that nothing of it is lost.
fn set_aside(database: &Path) -> io::Result<PathBuf> {
    let free = |number: u32| {
        let ending = if number == 1 {
            ".before-conclave".to_owned()
        } else {
            format!(".before-conclave-{number}")
        };
        with_ending(database, &ending)
    };
    let aside = (1..=u32::MAX)
        .map(free)
        .find(|path| fs::symlink_metadata(path).is_err())
        .ok_or(io::ErrorKind::AlreadyExists)?;
    for ending in COMPANIONS {
        match fs::rename(with_ending(database, ending), with_ending(&aside, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    fs::rename(database, &aside)?;
    Ok(aside)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Syncs a file to the disk.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

pub(super) fn folder(database: &Path) -> &Path {
    database
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
