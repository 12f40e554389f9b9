//! Who may use the database while somebody puts another one in its place. Two files beside it, with
//! nothing in them, are locked: whoever has the database open holds the first with others, whoever
//! swaps it holds it alone; whoever makes a new one holds the second alone, from beginning to end.
//! The system takes locks back when their process is gone, however it went.
//!
//! `SQLite`'s own locks do not do for this: they are on the database file, and it is the file that
//! is swapped. A file system without locks is gone on with: then two processes that swap at the
//! same moment may lose rows, which can be made again from the files.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long somebody waits for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Something else is waiting that matters more.
    Moment,
    /// As long as another process needs to write what it has.
    Usual,
    /// As long as another process needs to make a large index.
    Long,
}

impl Patience {
    pub fn time(self) -> Duration {
        match self {
            Self::Moment => Duration::from_millis(250),
            Self::Usual => Duration::from_secs(10),
            Self::Long => Duration::from_secs(120),
        }
    }
}

/// Others did not let go in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy;

/// A lock that is held as long as this lives; of no file where there are no locks.
#[derive(Debug)]
pub(super) struct Held {
    file: Option<File>,
}

/// The right to make a new database, held as long as this lives.
#[derive(Debug)]
pub(super) struct Building {
    file: Option<File>,
    database: PathBuf,
}

/// Waits until the database may be opened.
pub(super) fn to_use(database: &Path, patience: Patience) -> Result<Held, Busy> {
    // Shared locks that come one after the other would keep out for ever whoever wants the lock
    // alone: who waits for that says so.
    let building = beside(database, "building");
    let somebody_waits = || fs::metadata(&building).is_ok_and(|metadata| metadata.len() > 0);
    if somebody_waits()
        && let Ok(file) = File::open(&building)
    {
        // Who was killed waiting says so no more: nobody holds the lock.
        wait(patience, || {
            if somebody_waits() {
                file.try_lock_shared()
            } else {
                Ok(())
            }
        })?;
    }
    hold(&beside(database, "lock"), patience, File::try_lock_shared)
}

/// Waits until nobody else makes a new database.
pub(super) fn to_build(database: &Path, patience: Patience) -> Result<Building, Busy> {
    let held = hold(&beside(database, "building"), patience, File::try_lock)?;
    Ok(Building {
        file: held.file,
        database: database.to_owned(),
    })
}

impl Building {
    /// Waits until nobody has the database open, and keeps it so.
    pub(super) fn alone(&self, patience: Patience) -> Result<Held, Busy> {
        self.say_that_somebody_waits(1);
        let held = hold(&beside(&self.database, "lock"), patience, File::try_lock);
        self.say_that_somebody_waits(0);
        held
    }

    fn say_that_somebody_waits(&self, length: u64) {
        if let Some(file) = &self.file {
            // Unsaid, the wait is longer.
            let _ = file.set_len(length);
        }
    }

    /// True where locks keep others out.
    pub(super) fn is_alone(&self) -> bool {
        self.file.is_some()
    }
}

/// Whether a process is at work on a journal. Where nobody knows, none is.
pub fn is_being_written(journal: &Path) -> bool {
    File::open(journal)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn hold(
    path: &Path,
    patience: Patience,
    lock: fn(&File) -> Result<(), TryLockError>,
) -> Result<Held, Busy> {
    let Ok(file) = open(path) else {
        return Ok(Held { file: None });
    };
    let has_locks = wait(patience, || lock(&file))?;
    Ok(Held {
        file: has_locks.then_some(file),
    })
}

/// Tries again and again. False where there are no locks.
fn wait(patience: Patience, lock: impl Fn() -> Result<(), TryLockError>) -> Result<bool, Busy> {
    let (mut waited, mut pause) = (Duration::ZERO, Duration::from_micros(200));
    loop {
        match lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(_)) => return Ok(false),
            Err(TryLockError::WouldBlock) if waited >= patience.time() => return Err(Busy),
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
