//! Who may start a program now. Over all processes of the user, by locks of files, which end with
//! their process: the first call of each goes alone, and only so many programs run.
//!
//! Programs that are started together with a login that has expired both redeem its one token, and
//! the second is logged out. So the others wait until the first shows that its login works.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore};
use tokio::time::{sleep, timeout};

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::ids::ProviderId;
use crate::files::write::create_private_dir;
use crate::files::{LinkPolicy, SizeLimit, open_with};

/// The most programs that answer at once, whatever starts conclaves inside of conclaves.
const MAX_PROGRAMS: u32 = 8;

/// Time between two looks at a lock.
const LOOK: Duration = Duration::from_millis(50);

/// The gate of one program.
#[derive(Debug)]
pub(super) struct ProgramGate {
    /// The calls of this process.
    pub parallel: Semaphore,
    locks: PathBuf,
    first: String,
    /// A call has shown in this process that the login works.
    is_proven: Arc<Mutex<bool>>,
}

/// A call that goes alone.
#[derive(Debug)]
pub(super) struct FirstCall {
    is_proven: OwnedMutexGuard<bool>,
    _lock: FileLock,
}

impl FirstCall {
    /// The login works: others may go.
    pub(super) fn succeeded(mut self) {
        *self.is_proven = true;
    }
}

impl ProgramGate {
    pub(super) fn new(locks: &Path, program: &ProviderId, max_parallel: u32) -> Self {
        let name = program
            .as_str()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        Self {
            parallel: Semaphore::new(usize::try_from(max_parallel).map_or(1, |most| most.max(1))),
            locks: locks.to_owned(),
            first: format!("first-{name}.lock"),
            is_proven: Arc::default(),
        }
    }

    /// Waits until no other call goes alone; `None` if one has shown that the login works, unless
    /// that `is_doubted`.
    pub(super) async fn first(&self, is_doubted: bool) -> Result<Option<FirstCall>, Failure> {
        let mut is_proven = Arc::clone(&self.is_proven).lock_owned().await;
        if *is_proven && !is_doubted {
            return Ok(None);
        }
        *is_proven = false;
        let lock = self.one_of(std::slice::from_ref(&self.first)).await?;
        Ok(Some(FirstCall {
            is_proven,
            _lock: lock,
        }))
    }

    /// Waits until fewer than the most programs run, at most `time_limit`.
    pub(super) async fn program(&self, time_limit: Duration) -> Result<FileLock, Failure> {
        let names = (1..=MAX_PROGRAMS).map(|number| format!("program-{number}.lock"));
        let lock = timeout(time_limit, self.one_of(&names.collect::<Vec<_>>())).await;
        lock.unwrap_or_else(|_| {
            let message = format!("{MAX_PROGRAMS} programs run already, and no more may");
            Err(Failure::new(FailureClass::Overload, message))
        })
    }

    /// Waits for one of these locks.
    async fn one_of(&self, names: &[String]) -> Result<FileLock, Failure> {
        let failed = |error: &dyn Display| {
            let message = format!("cannot lock a file in `{}`: {error}", self.locks.display());
            Failure::new(FailureClass::Internal, message)
        };
        create_private_dir(&self.locks).map_err(|error| failed(&error))?;
        loop {
            for name in names {
                let lock = FileLock::take(&self.locks.join(name));
                if let Some(lock) = lock.map_err(|error| failed(&error))? {
                    return Ok(lock);
                }
            }
            sleep(LOOK).await;
        }
    }
}

/// A lock that ends when this is dropped, or with its process.
#[derive(Debug)]
pub(super) struct FileLock(File);

impl FileLock {
    /// `None` if another has it.
    fn take(path: &Path) -> io::Result<Option<Self>> {
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = open_with(&mut options, path, SizeLimit::SMALL, LinkPolicy::Refuse)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A program that is being started has copies of open files for a moment, and their locks.
        let _ = self.0.unlock();
    }
}
