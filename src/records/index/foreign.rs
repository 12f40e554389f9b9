//! Sets aside anything that has the index's name but is not an index of this program: another
//! program's database, or something that is not a file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::open::{self, IndexError};

/// Suffixes of the database and of the files that `SQLite` uses beside it. The log first: found by
/// a database of its name that it does not belong to, it would corrupt that.
const ENDINGS: [&str; 4] = ["-wal", "-shm", "-journal", ""];

/// Returns its new path; `None` where there is none.
pub(super) fn set_aside(database: &Path) -> io::Result<Option<PathBuf>> {
    // Another process that finds the same one must not rename the new index. A folder that cannot
    // be locked is used without.
    let folder = File::open(database.parent().unwrap_or(Path::new(".")));
    let _lock = folder.and_then(|folder| folder.lock().map(|()| folder));
    if !is_foreign(database) {
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

/// Returns whether a rebuild in this place could destroy what another program or the user put
/// there.
fn is_foreign(database: &Path) -> bool {
    let is_no_file = fs::symlink_metadata(database).is_ok_and(|place| !place.is_file());
    // The connection is closed before the file is renamed.
    let opened =
        open::open_unchecked(database).and_then(|connection| open::check(&connection, database));
    match opened {
        Err(IndexError::Foreign(_)) => true,
        // The target of a link that is no index would be overwritten.
        Err(IndexError::Missing(_) | IndexError::Damaged { .. }) => is_no_file,
        Ok(()) | Err(_) => false,
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
