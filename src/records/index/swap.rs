//! Putting a new database in the place of the old one.
//!
//! Invariant: whoever does it holds the lock alone, and a process that is killed at any moment
//! leaves either the old database with all that belongs to it, or the new one. The write-ahead log
//! goes by the database's name: one that outlived its database would be taken for the new one's,
//! and break it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::OptionalExtension;

use crate::records::files::sync_folder;

use super::lock::Patience;
use super::open::{self, Unusable, is_damage};

/// What `SQLite` keeps beside a database while it is used.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// What a new database is called until it is complete.
const TEMPORARY: &str = ".new-";

/// Why a new database is not in the old one's place.
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

/// A file for a new database beside the old one, for its owner alone.
pub(super) fn temporary(database: &Path) -> io::Result<tempfile::TempPath> {
    let mut prefix = database.file_name().unwrap_or_default().to_owned();
    prefix.push(TEMPORARY);
    Ok(tempfile::Builder::new()
        .prefix(&prefix)
        .tempfile_in(folder(database))?
        .into_temp_path())
}

/// Removes what processes that were killed have left. Only for who alone makes new databases.
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
            // It harms nobody but the disk.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Puts a complete and closed database in its place; returns where another program's is now that
/// was there.
pub(super) fn put_in_place(
    new: tempfile::TempPath,
    database: &Path,
) -> Result<Option<PathBuf>, SwapError> {
    let aside = match end(database)? {
        Ended::NothingToLose => None,
        Ended::Foreign => Some(set_aside(database)?),
    };
    for ending in COMPANIONS {
        remove(&with_ending(database, ending))?;
    }
    // They must be gone before there is a database that they do not belong to.
    sync_folder(folder(database))?;
    new.persist(database).map_err(|error| error.error)?;
    sync_folder(folder(database))?;
    Ok(aside)
}

/// What is to become of the old database.
enum Ended {
    /// There is none, it is broken, or all of it is in its file.
    NothingToLose,
    Foreign,
}

/// Brings the old database's log into its file, as far as it is ours and can be used.
fn end(database: &Path) -> Result<Ended, SwapError> {
    let connection = match open::look_at(database) {
        Ok(connection) => connection,
        Err(Unusable::Missing(_) | Unusable::Damaged { .. }) => return Ok(Ended::NothingToLose),
        Err(Unusable::Unreadable { source, .. }) => return Err(source.into()),
        Err(
            error @ (Unusable::Foreign(_)
            | Unusable::Newer { .. }
            | Unusable::Busy(_)
            | Unusable::Failed { .. }),
        ) => {
            return Err(io::Error::other(error).into());
        }
    };
    connection
        .busy_timeout(Patience::Usual.time())
        .map_err(io::Error::other)?;
    match open::check(&connection, database) {
        Ok(_) | Err(Unusable::Newer { .. }) => {}
        Err(Unusable::Missing(_) | Unusable::Damaged { .. }) => return Ok(Ended::NothingToLose),
        Err(Unusable::Foreign(_)) => return Ok(Ended::Foreign),
        Err(
            error @ (Unusable::Busy(_) | Unusable::Failed { .. } | Unusable::Unreadable { .. }),
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
        Ok(_) => Ok(Ended::NothingToLose),
        Err(error) if is_damage(&error) => Ok(Ended::NothingToLose),
        Err(error) => Err(io::Error::other(error).into()),
    }
}

/// Gives another program's database a name at which nothing is lost and nobody looks for ours.
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

/// Brings a file to the disk.
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
