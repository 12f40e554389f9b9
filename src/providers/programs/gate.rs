//! Who may start a program now. Over all processes of the user, by a lock of a file, which ends with
//! its process: the first call of each goes alone.
//!
//! Programs that are started together with a login that has expired both redeem its one token, and
//! the second is logged out. So the others wait until the first shows that its login works.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore};
use tokio::time::sleep;

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::ids::ProviderId;
use crate::files::write::{create_private_dir, folder_of};
use crate::files::{LinkPolicy, SizeLimit, open_with};

/// Time between two looks at the lock.
const LOOK: Duration = Duration::from_millis(50);

/// The gate of one program.
#[derive(Debug)]
pub(super) struct ProgramGate {
    /// The calls of this process.
    pub parallel: Semaphore,
    lock: PathBuf,
    /// A call has shown in this process that the login works.
    is_proven: Arc<Mutex<bool>>,
}

/// A call that goes alone, until this is dropped.
#[derive(Debug)]
pub(super) struct FirstCall {
    is_proven: OwnedMutexGuard<bool>,
    lock: File,
}

impl Drop for FirstCall {
    fn drop(&mut self) {
        // A program that is being started has copies of open files for a moment, and their locks.
        let _ = self.lock.unlock();
    }
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
            lock: locks.join(format!("first-{name}.lock")),
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
        let failed = |error: &dyn Display| {
            let message = format!("cannot lock `{}`: {error}", self.lock.display());
            Failure::new(FailureClass::Internal, message)
        };
        create_private_dir(folder_of(&self.lock)).map_err(|error| failed(&error))?;
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = open_with(
            &mut options,
            &self.lock,
            SizeLimit::SMALL,
            LinkPolicy::Refuse,
        );
        let lock = lock.map_err(|error| failed(&error))?;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Some(FirstCall { is_proven, lock })),
                Err(TryLockError::WouldBlock) => sleep(LOOK).await,
                Err(TryLockError::Error(error)) => return Err(failed(&error)),
            }
        }
    }
}
