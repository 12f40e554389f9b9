//! Taking a consultation's files away, all of them, and none that another process is writing.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::files::sync_folder;
use super::journal::ends::{self, JournalEnding};
use super::outcomes;

/// What was taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovedFiles {
    pub files: usize,
    pub bytes: u64,
}

/// Why not all of a consultation is gone. What was taken away before stays away.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    #[error("another process is writing it")]
    Busy,
    #[error("nobody knows whether another process is writing it: its file system has no locks")]
    NoLocks(#[source] io::Error),
    #[error("cannot delete `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Takes the files of a consultation away; `stem` is their name without the endings. Files that are
/// not there are no error.
///
/// The journal is the last: as long as it is there, its lock keeps others from going on with what
/// is being taken away, and whatever a process that is killed half-way leaves behind is a
/// consultation that lists, names and another removal still find.
pub fn remove(logs: &Path, stem: &str) -> Result<RemovedFiles, RemoveError> {
    let journal = logs.join(format!("{stem}.jsonl"));
    let _lock = lock(&journal)?;
    let mut removed = RemovedFiles::default();
    for path in files(logs, stem) {
        let bytes = fs::symlink_metadata(&path).map_or(0, |file| file.len());
        match fs::remove_file(&path) {
            Ok(()) => {
                removed.files += 1;
                removed.bytes += bytes;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(RemoveError::Io { path, source }),
        }
    }
    Ok(removed)
}

/// All that a consultation may have, the journal last. What the original leaves of a run that fails
/// lies beside the record under a name of its own: it would come back as a consultation.
fn files(logs: &Path, stem: &str) -> Vec<PathBuf> {
    let of = |stem: &str| {
        let named = |ending: &str| logs.join(format!("{stem}.{ending}"));
        [
            named("md"),
            outcomes::path(logs, stem),
            named("json"),
            named("jsonl"),
        ]
    };
    let base = stem.strip_suffix("-partial").unwrap_or(stem);
    if base.starts_with("consult-consult-") {
        [of(base), of(&format!("{base}-partial"))].concat()
    } else {
        of(stem).to_vec()
    }
}

/// Makes removals in the folder of logs last.
pub fn sync(logs: &Path) -> Result<(), RemoveError> {
    sync_folder(logs).map_err(|source| RemoveError::Io {
        path: logs.to_owned(),
        source,
    })
}

/// Holds the journal's lock. There may be no journal.
fn lock(journal: &Path) -> Result<Option<File>, RemoveError> {
    let file = match File::open(journal) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(RemoveError::Io {
                path: journal.to_owned(),
                source,
            });
        }
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(RemoveError::Busy),
        // What has come to its end is written by nobody.
        Err(TryLockError::Error(_))
            if ends::ending(journal).is_ok_and(|ending| ending != JournalEnding::Open) =>
        {
            Ok(None)
        }
        Err(TryLockError::Error(source)) => Err(RemoveError::NoLocks(source)),
    }
}
