//! The journal: one event per line, written to the file before the consultation continues and
//! synced to the disk soon after.
//!
//! Invariant: a killed process loses no event, because each is one write; a power failure loses at
//! most what the sync thread had not reached. The event loop never waits for the disk. Two
//! processes never write one journal: the writer holds its lock, which the system releases when the
//! process ends in any way.
//!
//! One thread syncs the journals of all consultations of the process, in turn: where many write at
//! once, what comes while the others are synced goes to the disk together.

pub mod ends;

use std::fs::{File, TryLockError};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// `None` once it is closed.
    sync: Option<SyncQueue>,
}

/// What the sync thread knows of a journal, and the way to that thread.
#[derive(Debug)]
struct SyncQueue {
    unsynced: Arc<Unsynced>,
    thread: Sender<Arc<Unsynced>>,
}

/// A journal whose writes have to reach the disk.
#[derive(Debug)]
struct Unsynced {
    /// Whether the sync thread has it before it.
    is_queued: AtomicBool,
    progress: Mutex<SyncProgress>,
}

#[derive(Debug)]
struct SyncProgress {
    /// The journal, until it is closed: it holds the lock as well.
    file: Option<File>,
    /// The folder of the journal, until it is synced too.
    folder: Option<PathBuf>,
    /// The first failure: the system tells a failed sync once.
    synced: io::Result<()>,
}

impl Unsynced {
    /// Makes all that was written until now durable.
    fn sync(&self) -> MutexGuard<'_, SyncProgress> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        // First, so that a write after it queues the journal again.
        self.is_queued.swap(false, Ordering::AcqRel);
        let SyncProgress {
            file,
            folder,
            synced,
        } = &mut *progress;
        if let Some(file) = file {
            let folder = folder.take().as_deref().map_or(Ok(()), sync_folder);
            let both = folder.and(file.sync_data());
            if synced.is_ok() {
                *synced = both;
            }
        }
        progress
    }

    /// Syncs and closes the file, and returns the first failure.
    fn close(&self) -> io::Result<()> {
        let mut progress = self.sync();
        progress.file = None;
        mem::replace(&mut progress.synced, Ok(()))
    }
}

/// A journal that is left, as by an interrupted consultation, is closed like one that has ended.
impl Drop for SyncQueue {
    fn drop(&mut self) {
        let _ = self.unsynced.close();
    }
}

fn sync_thread() -> io::Result<Sender<Arc<Unsynced>>> {
    static THREAD: Mutex<Option<Sender<Arc<Unsynced>>>> = Mutex::new(None);
    let mut thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sender) = &*thread {
        return Ok(sender.clone());
    }
    let (sender, queue) = mpsc::channel::<Arc<Unsynced>>();
    std::thread::Builder::new()
        .name("journal".to_owned())
        .spawn(move || queue.iter().for_each(|journal| drop(journal.sync())))?;
    Ok(thread.insert(sender).clone())
}

/// A torn last line is left out; damage anywhere else is an error.
pub fn read_journal(path: &Path) -> Result<Vec<Envelope>, LogError> {
    let file =
        files::open(path, SizeLimit::JOURNAL).map_err(|error| LogError::unreadable(path, error))?;
    LogReader::new(path, &file).collect()
}

/// False on a file system without locks.
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

    fn start(log: LogFile) -> Result<Self, WriteError> {
        let failed = |error| WriteError::new(&log.path, error);
        let unsynced = Unsynced {
            is_queued: AtomicBool::new(false),
            progress: Mutex::new(SyncProgress {
                file: Some(log.file.try_clone().map_err(failed)?),
                folder: log.path.parent().map(Path::to_owned),
                synced: Ok(()),
            }),
        };
        let thread = sync_thread().map_err(failed)?;
        let unsynced = Arc::new(unsynced);
        Ok(Self {
            log,
            sync: Some(SyncQueue { unsynced, thread }),
        })
    }

    /// The failure was reported when it happened.
    pub fn has_failed(&self) -> bool {
        self.log.is_broken
    }

    /// A second call does nothing.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        let closed = self
            .sync
            .take()
            .map_or(Ok(()), |sync| sync.unsynced.close());
        closed.map_err(|error| WriteError::new(&self.log.path, error))
    }

    fn append(&mut self, envelope: &Envelope) -> io::Result<()> {
        let Some(sync) = &self.sync else {
            return Err(io::Error::other("the journal is closed"));
        };
        self.log.append(envelope)?;
        if !sync.unsynced.is_queued.swap(true, Ordering::AcqRel) {
            // Without the thread, `finish` syncs.
            let _ = sync.thread.send(Arc::clone(&sync.unsynced));
        }
        Ok(())
    }
}

impl Subscriber for Journal {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        self.append(envelope)
            .map_err(|error| SubscriberError(log_notice(&WriteError::new(&self.log.path, error))))
    }
}
