//! Deletes all files of a consultation, unless another process is writing it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::ids::ConsultationId;
use crate::files::write::sync_folder;
use crate::files::{self, SizeLimit};

use super::files::ConsultationFiles;
use super::journal::ends::{self, JournalEnding};
use super::outcomes;

/// The files deleted, and their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovedFiles {
    pub files: usize,
    pub bytes: u64,
}

/// The reason why a consultation could not be deleted completely. Files deleted before the error
/// stay deleted.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    #[error("another process is writing to it")]
    Busy,
    #[error("another process may be writing it: its file system has no locks")]
    NoLocks(#[source] io::Error),
    #[error("cannot delete `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Deletes the files of a consultation. Missing files are no error.
///
/// The journal comes last: its lock keeps other processes from resuming the consultation meanwhile,
/// and if this process is killed half-way, the consultation can still be listed, found and deleted
/// again.
pub fn remove(logs: &Path, id: &ConsultationId) -> Result<RemovedFiles, RemoveError> {
    let _lock = lock(&ConsultationFiles::in_folder(logs, id).journal)?;
    let mut removed = RemovedFiles::default();
    for path in files(logs, id) {
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

/// The journal comes last.
fn files(logs: &Path, id: &ConsultationId) -> [PathBuf; 6] {
    let files = ConsultationFiles::in_folder(logs, id);
    [
        files.markdown,
        files.page,
        files.context,
        outcomes::path(logs, id),
        files.record,
        files.journal,
    ]
}

pub fn sync(logs: &Path) -> Result<(), RemoveError> {
    sync_folder(logs).map_err(|source| RemoveError::Io {
        path: logs.to_owned(),
        source,
    })
}

/// `None` without a journal.
fn lock(journal: &Path) -> Result<Option<File>, RemoveError> {
    let file = match files::open(journal, SizeLimit::NONE) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // No process writes something else in the journal's place.
        Err(_) if fs::metadata(journal).is_ok_and(|journal| !journal.is_file()) => return Ok(None),
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
        // No process writes a journal that has ended.
        Err(TryLockError::Error(_))
            if ends::ending(journal).is_ok_and(|ending| ending != JournalEnding::Open) =>
        {
            Ok(None)
        }
        Err(TryLockError::Error(source)) => Err(RemoveError::NoLocks(source)),
    }
}
