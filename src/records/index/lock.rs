//! Locks between processes that use the database and one that swaps it. Two empty files beside the
//! database are locked: a process with the database open holds `.lock` shared, one that swaps it
//! holds `.lock` exclusively; one that builds a new database holds `.building` exclusively
//! throughout. The system releases the locks of a process that ends in any way.
//!
//! `SQLite`'s own locks do not serve: they lie on the database file, which is the file that is
//! swapped. On a file system without locks, two processes that swap at once may lose rows, which a
//! rebuild restores.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time to wait for another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitLimit {
    /// Where the user is waiting for something else.
    Moment,
    /// Long enough for another process to write its rows.
    Usual,
    /// Long enough for another process to rebuild a large index.
    Long,
}

impl WaitLimit {
    pub fn time(self) -> Duration {
        match self {
            Self::Moment => Duration::from_millis(250),
            Self::Usual => Duration::from_secs(10),
            Self::Long => Duration::from_secs(120),
        }
    }
}

/// Another process held the lock beyond the wait limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BusyError;

/// A lock, held until this is dropped; without a file where the file system has no locks.
#[derive(Debug)]
pub(super) struct LockGuard {
    file: Option<File>,
}

/// The right to build a new database, held until this is dropped.
#[derive(Debug)]
pub(super) struct BuildLock {
    file: Option<File>,
    database: PathBuf,
}

/// Waits until the database may be opened, and keeps it from being swapped.
pub(super) fn to_use(database: &Path, patience: WaitLimit) -> Result<LockGuard, BusyError> {
    // A chain of shared locks would keep an exclusive waiter out for ever: a waiter announces
    // itself by the length of its file.
    let building = beside(database, "building");
    let waiter_announced = || fs::metadata(&building).is_ok_and(|metadata| metadata.len() > 0);
    if waiter_announced()
        && let Ok(file) = File::open(&building)
    {
        // A waiter that was killed leaves its announcement, but no lock.
        wait(patience, || {
            if waiter_announced() {
                file.try_lock_shared()
            } else {
                Ok(())
            }
        })?;
    }
    hold(&beside(database, "lock"), patience, File::try_lock_shared)
}

/// Waits until no other process builds a new database.
pub(super) fn to_build(database: &Path, patience: WaitLimit) -> Result<BuildLock, BusyError> {
    let held = hold(&beside(database, "building"), patience, File::try_lock)?;
    Ok(BuildLock {
        file: held.file,
        database: database.to_owned(),
    })
}

impl BuildLock {
    /// Waits until no process has the database open, and keeps it so.
    pub(super) fn exclusive(&self, patience: WaitLimit) -> Result<LockGuard, BusyError> {
        self.announce_waiter(1);
        let held = hold(&beside(&self.database, "lock"), patience, File::try_lock);
        self.announce_waiter(0);
        held
    }

    fn announce_waiter(&self, length: u64) {
        if let Some(file) = &self.file {
            // Without it, the wait is longer.
            let _ = file.set_len(length);
        }
    }

    /// Returns whether the file system has locks, so that this one keeps others out.
    pub(super) fn is_effective(&self) -> bool {
        self.file.is_some()
    }
}

/// Returns whether a process holds a journal open. False on a file system without locks.
pub fn is_being_written(journal: &Path) -> bool {
    File::open(journal)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn hold(
    path: &Path,
    patience: WaitLimit,
    lock: fn(&File) -> Result<(), TryLockError>,
) -> Result<LockGuard, BusyError> {
    let Ok(file) = open(path) else {
        return Ok(LockGuard { file: None });
    };
    let has_locks = wait(patience, || lock(&file))?;
    Ok(LockGuard {
        file: has_locks.then_some(file),
    })
}

/// Retries until the lock is granted. False on a file system without locks.
fn wait(
    patience: WaitLimit,
    lock: impl Fn() -> Result<(), TryLockError>,
) -> Result<bool, BusyError> {
    let (mut waited, mut pause) = (Duration::ZERO, Duration::from_micros(200));
    loop {
        match lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(_)) => return Ok(false),
            Err(TryLockError::WouldBlock) if waited >= patience.time() => return Err(BusyError),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                waited += pause;
                pause = (pause * 2).min(Duration::from_millis(10));
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    database.with_extension(ending)
}
