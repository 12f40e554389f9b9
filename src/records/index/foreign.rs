//! Sets aside another program's database that has the index's name, such as that of the original.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::open::{self, OpenError};

/// Suffixes of the database and of the files that `SQLite` uses beside it. The log first: found by
/// a database of its name that it does not belong to, it would corrupt that.
const ENDINGS: [&str; 4] = ["-wal", "-shm", "-journal", ""];

/// Renames a foreign database, so that nothing of it is lost. Returns its new path; `None` where
/// there is none.
pub(super) fn set_aside(database: &Path) -> io::Result<Option<PathBuf>> {
    let opened = open::open_unchecked(database).and_then(|connection| {
        // Closed before the file is renamed.
        open::check(&connection, database)
    });
    if !matches!(opened, Err(OpenError::Foreign(_))) {
        return Ok(None);
    }
    let numbered = |number: u32| {
        if number == 1 {
            with_ending(database, ".before-conclave")
        } else {
            with_ending(database, &format!(".before-conclave-{number}"))
        }
    };
    let aside = (1..=u32::MAX)
        .map(numbered)
        .find(|path| fs::symlink_metadata(path).is_err())
        .ok_or(io::ErrorKind::AlreadyExists)?;
    for ending in ENDINGS {
        match fs::rename(with_ending(database, ending), with_ending(&aside, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(Some(aside))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
