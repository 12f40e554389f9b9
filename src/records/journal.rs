//! The journal: one event a line, in the file before the consultation goes on, on the disk soon
//! after.
//!
//! Invariant: a killed process loses no event that was taken, because each goes to the file in one
//! write; a lost power supply loses at most what the syncing thread had not reached. The event loop
//! never waits for the disk. Two processes never write one journal: whoever writes holds its lock,
//! which the system takes back when the process is gone, however it went.

pub mod ends;
pub mod read;

use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::JoinHandle;

use crate::consultation::event::Envelope;
use crate::engine::ports::{Subscriber, SubscriberError};

use super::files::{WriteError, create_private_dir, sync_folder};
use read::read;

pub use read::{JournalReadError, ReadJournal, read_journal};

/// A journal being written. Locked against other processes as long as it is open.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    sync: Option<SyncThread>,
    has_failed: bool,
}

/// The thread that brings the file to the disk, and the bell that wakes it.
#[derive(Debug)]
struct SyncThread {
    bell: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

/// Whether a journal is gone on with where the file system has no locks, so that nobody knows
/// whether another process writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoLockPolicy {
    Refuse,
    /// The user says that the other process is gone.
    Trust,
}

/// Why a journal cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum ReopenError {
    #[error("there is no journal `{}`", .path.display())]
    Missing { path: PathBuf },
    #[error("journal `{}` is being written by another process", .path.display())]
    Busy { path: PathBuf },
    #[error("nobody knows whether another process writes journal `{}`: its file system has no locks", .path.display())]
    NoLocks { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Unreadable(#[from] JournalReadError),
    /// It can be read at best.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
}

impl Journal {
    /// Starts a journal, making its folder if need be.
    ///
    /// # Errors
    ///
    /// When the folder or the file cannot be made, or there already is such a journal.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let failed = |error| WriteError::new(path, error);
        create_private_dir(path.parent().unwrap_or(Path::new(".")))?;
        let mut options = File::options();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(failed(io::ErrorKind::ResourceBusy.into()));
            }
            // A file system without locks: the new name alone keeps two processes apart.
            Err(TryLockError::Error(_)) => {}
        }
        Self::start(path, file).map_err(failed)
    }

    /// Opens a journal to go on with it, and returns what it holds. A last line that a killed
    /// process left unfinished is cut off.
    ///
    /// # Errors
    ///
    /// When there is no such journal, another process writes it, or it cannot be read; nothing is
    /// changed then.
    pub fn reopen(
        path: &Path,
        unlocked: NoLockPolicy,
    ) -> Result<(Self, Vec<Envelope>), ReopenError> {
        let opened = File::options().read(true).write(true).open(path);
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

    /// Starts the syncing thread of an open file whose end is where the next event goes.
    fn start(path: &Path, file: File) -> io::Result<Self> {
        let to_sync = file.try_clone()?;
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        // One waiting ring is enough: a sync takes along all that was written before it.
        let (bell, rings) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                sync_folder(&folder)?;
                // Invariant: every write is followed by a ring, and rings that wait are heard
                // before the end: nothing is left to sync.
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True when an event could not be written, which was told then.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Waits until all events are on the disk. Nothing can be appended afterwards. A second call
    /// does nothing.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        let Some(SyncThread { bell, thread }) = self.sync.take() else {
            return Ok(());
        };
        drop(bell);
        let synced = thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the syncing thread failed")));
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
            // The thread is gone only because a sync failed; `finish` tells why.
            Err(TrySendError::Disconnected(())) => Ok(()),
        }
    }
}

impl Subscriber for Journal {
    fn name(&self) -> &'static str {
        "journal"
    }

    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        self.append(envelope).map_err(|error| {
            self.has_failed = true;
            SubscriberError(WriteError::new(&self.path, error).notice())
        })
    }
}

/// Cuts off a torn last line, ends a whole one, and goes to the end.
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
