//! The journal: one event per line, written to the file before the consultation continues and
//! synced to the disk soon after.
//!
//! Invariant: a killed process loses no event, because each is one write; a power failure loses at
//! most what the sync thread had not reached. The event loop never waits for the disk. Two
//! processes never write one journal: the writer holds its lock, which the system releases when the
//! process ends in any way.

pub mod ends;

use std::fs::TryLockError;
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;

use crate::consultation::event::Envelope;
use crate::engine::ports::{Subscriber, SubscriberError};
use crate::files::log::{LockPolicy, LogError, LogFile, LogReader};
use crate::files::write::{WriteError, create_private_dir, sync_folder};
use crate::files::{self, SizeLimit};

use super::files::log_notice;

/// An open journal, locked against other processes.
#[derive(Debug)]
pub struct Journal {
    log: LogFile,
    sync: Option<SyncThread>,
}

/// The thread that syncs the file to the disk, and the bell that wakes it.
#[derive(Debug)]
struct SyncThread {
    bell: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

/// Reads a journal. A torn last line is left out; damage anywhere else is an error.
pub fn read_journal(path: &Path) -> Result<Vec<Envelope>, LogError> {
    let file =
        files::open(path, SizeLimit::JOURNAL).map_err(|error| LogError::unreadable(path, error))?;
    LogReader::new(path, &file).collect()
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
        create_private_dir(path.parent().unwrap_or(Path::new(".")))?;
        Self::start(LogFile::create(path)?)
    }

    /// Opens a journal to append to it, and returns its events. A torn last line is cut off.
    ///
    /// # Errors
    ///
    /// When the journal is missing, another process writes it, or it cannot be read; nothing is
    /// changed then.
    pub fn reopen(path: &Path, locks: LockPolicy) -> Result<(Self, Vec<Envelope>), LogError> {
        let (log, events) = LogFile::open(path, locks, |lines| lines.collect())?;
        Ok((Self::start(log)?, events))
    }

    /// Starts the sync thread.
    fn start(log: LogFile) -> Result<Self, WriteError> {
        let failed = |error| WriteError::new(&log.path, error);
        let to_sync = log.file.try_clone().map_err(failed)?;
        let folder = log.path.parent().unwrap_or(Path::new(".")).to_owned();
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
            })
            .map_err(failed)?;
        Ok(Self {
            log,
            sync: Some(SyncThread { bell, thread }),
        })
    }

    /// Returns whether an event could not be written; that was reported at the time.
    pub fn has_failed(&self) -> bool {
        self.log.is_broken
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
        synced.map_err(|error| WriteError::new(&self.log.path, error))
    }

    fn append(&mut self, envelope: &Envelope) -> io::Result<()> {
        let Some(sync) = &self.sync else {
            return Err(io::Error::other("the journal is closed"));
        };
        self.log.append(envelope)?;
        // One pending ring is enough. The thread ends early only when a sync fails; `finish`
        // returns that error.
        let _ = sync.bell.try_send(());
        Ok(())
    }
}

impl Subscriber for Journal {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        self.append(envelope)
            .map_err(|error| SubscriberError(log_notice(&WriteError::new(&self.log.path, error))))
    }
}
