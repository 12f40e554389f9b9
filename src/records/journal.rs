//! The journal: one event per line, written to the file before the consultation continues and
//! synced to the disk soon after.
//!
//! Invariant: a killed process loses no event, because each is one write; a power failure loses at
//! most what the sync thread had not reached. The event loop never waits for the disk. Two
//! processes never write one journal: the writer holds its lock, which the system releases when the
//! process ends in any way.

pub mod ends;
pub mod read;

use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::JoinHandle;

use crate::consultation::event::Envelope;
use crate::engine::ports::{Subscriber, SubscriberError};
use crate::files::write::{WriteError, create_private_dir, sync_folder};
use crate::files::{self, LinkPolicy, SizeLimit};

use super::files::log_notice;
use read::read;

pub use read::{JournalReadError, ReadJournal, read_journal};

/// An open journal, locked against other processes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    sync: Option<SyncThread>,
    has_failed: bool,
}

/// The thread that syncs the file to the disk, and the bell that wakes it.
#[derive(Debug)]
struct SyncThread {
    bell: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

/// The treatment of a journal on a file system without locks, which another process may be writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoLockPolicy {
    Refuse,
    /// The user states that no other process writes it.
    Trust,
}

/// The reason why a journal cannot be reopened.
#[derive(Debug, thiserror::Error)]
pub enum ReopenError {
    #[error("there is no journal `{}`", .path.display())]
    Missing { path: PathBuf },
    #[error("journal `{}` is being written by another process", .path.display())]
    Busy { path: PathBuf },
    #[error(
        "another process may be writing journal `{}`: its file system has no locks",
        .path.display()
    )]
    NoLocks { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Unreadable(#[from] JournalReadError),
    /// It can be read only, if at all.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
}

/// Returns whether a process holds a journal open. False on a file system without locks.
pub fn is_being_written(journal: &Path) -> bool {
    files::open(journal, SizeLimit::NONE)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

impl Journal {
    /// Creates a journal, and its folder if necessary.
    ///
    /// # Errors
    ///
    /// When the folder or the file cannot be created, or the journal exists already.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let failed = |error| WriteError::new(path, error);
        create_private_dir(path.parent().unwrap_or(Path::new(".")))?;
        let mut options = File::options();
        options.append(true).create_new(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(failed(io::ErrorKind::ResourceBusy.into()));
            }
            // Without locks, the new name alone separates two processes.
            Err(TryLockError::Error(_)) => {}
        }
        Self::start(path, file).map_err(failed)
    }

    /// Opens a journal to append to it, and returns its events. A torn last line is cut off.
    ///
    /// # Errors
    ///
    /// When the journal is missing, another process writes it, or it cannot be read; nothing is
    /// changed then.
    pub fn reopen(
        path: &Path,
        unlocked: NoLockPolicy,
    ) -> Result<(Self, Vec<Envelope>), ReopenError> {
        let mut options = File::options();
        options.read(true).write(true);
        let opened = files::open_with(&mut options, path, SizeLimit::JOURNAL, LinkPolicy::Refuse);
        let mut file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ReopenError::Missing {
                path: path.to_owned(),
            },
            _ => ReopenError::Unwritable(WriteError::new(path, error)),
        })?;
        match (file.try_lock(), unlocked) {
            (Ok(()), _) | (Err(TryLockError::Error(_)), NoLockPolicy::Trust) => {}
            (Err(TryLockError::WouldBlock), _) => {
                return Err(ReopenError::Busy {
                    path: path.to_owned(),
                });
            }
            (Err(TryLockError::Error(source)), NoLockPolicy::Refuse) => {
                return Err(ReopenError::NoLocks {
                    path: path.to_owned(),
                    source,
                });
            }
        }
        let read = read(BufReader::new(&file), path)?;
        let journal = repair_tail(&mut file, &read).and_then(|()| Self::start(path, file));
        Ok((
            journal.map_err(|error| WriteError::new(path, error))?,
            read.events,
        ))
    }

    /// Starts the sync thread of an open file that is positioned at its end.
    fn start(path: &Path, file: File) -> io::Result<Self> {
        let to_sync = file.try_clone()?;
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        // One pending ring is enough: a sync covers all writes before it.
        let (bell, rings) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                sync_folder(&folder)?;
                // Invariant: a ring follows every write, and pending rings are received before the
                // channel ends: nothing is left unsynced.
                while rings.recv().is_ok() {
                    to_sync.sync_data()?;
                }
                Ok(())
            })?;
        Ok(Self {
            path: path.to_owned(),
            file,
            sync: Some(SyncThread { bell, thread }),
            has_failed: false,
        })
    }

    /// Returns whether an event could not be written; that was reported at the time.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Waits until all events are on the disk, and closes the journal. A second call does nothing.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        let Some(SyncThread { bell, thread }) = self.sync.take() else {
            return Ok(());
        };
        drop(bell);
        let synced = thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the sync thread panicked")));
        synced.map_err(|error| WriteError::new(&self.path, error))
    }

    fn append(&mut self, envelope: &Envelope) -> io::Result<()> {
        let mut line = serde_json::to_vec(envelope)?;
        line.push(b'\n');
        let Some(sync) = &self.sync else {
            return Err(io::Error::other("the journal is closed"));
        };
        self.file.write_all(&line)?;
        match sync.bell.try_send(()) {
            Ok(()) | Err(TrySendError::Full(())) => Ok(()),
            // The thread ends early only when a sync fails; `finish` returns that error.
            Err(TrySendError::Disconnected(())) => Ok(()),
        }
    }
}

impl Subscriber for Journal {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        self.append(envelope).map_err(|error| {
            self.has_failed = true;
            SubscriberError(log_notice(&WriteError::new(&self.path, error)))
        })
    }
}

/// Cuts off a torn last line, completes a missing line break, and seeks to the end.
fn repair_tail(file: &mut File, read: &ReadJournal) -> io::Result<()> {
    if read.torn_bytes > 0 {
        file.set_len(read.whole_bytes)?;
    }
    file.seek(SeekFrom::Start(read.whole_bytes))?;
    if read.lacks_line_break {
        file.write_all(b"\n")
    } else {
        Ok(())
    }
}
