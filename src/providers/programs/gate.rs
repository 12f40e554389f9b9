//! Who may start a program now. Over all processes of the user, by locks of files, which end with
//! their process: the first call of each goes alone, and only so many programs run.
//!
//! Programs that are started together with a login that has expired both redeem its one token, and
//! the second is logged out. So the others wait until the first shows that its login works.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::ids::ProviderId;
use crate::files::write::create_private_dir;
use crate::files::{FileLock, try_lock};

/// The most programs that answer at once, whatever starts conclaves inside of conclaves.
const MAX_PROGRAMS: u32 = 8;

/// Time between two looks at a lock.
const LOOK: Duration = Duration::from_millis(20);

/// The gate of one program.
#[derive(Debug)]
pub(super) struct ProgramGate {
    locks: PathBuf,
    first: [String; 1],
    /// A call has shown in this process that the login works.
    is_proven: AtomicBool,
}

impl ProgramGate {
    pub(super) fn new(locks: &Path, program: &ProviderId) -> Self {
        let name = program
            .as_str()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        Self {
            locks: locks.to_owned(),
            first: [format!("first-{name}.lock")],
            is_proven: AtomicBool::new(false),
        }
    }

    /// Waits until no other call goes alone, and then keeps others from it; `None` if one has shown
    /// that the login works, unless that `is_doubted`.
    pub(super) async fn first(&self, is_doubted: bool) -> Result<Option<FileLock>, Failure> {
        let is_wanted = || is_doubted || !self.is_proven.load(Ordering::Acquire);
        let alone = self.one_of(&self.first, is_wanted).await?;
        if alone.is_some() {
            self.is_proven.store(false, Ordering::Release);
        }
        Ok(alone)
    }

    /// Lets others go, if this call went alone: it has shown that the login works.
    pub(super) fn proven(&self, first: Option<FileLock>) {
        if let Some(alone) = first {
            self.is_proven.store(true, Ordering::Release);
            drop(alone);
        }
    }

    /// Waits until fewer than the most programs run, at most `time_limit`.
    pub(super) async fn program(&self, time_limit: Duration) -> Result<Option<FileLock>, Failure> {
        let names = (1..=MAX_PROGRAMS).map(|number| format!("program-{number}.lock"));
        let names: Vec<String> = names.collect();
        let lock = timeout(time_limit, self.one_of(&names, || true));
        lock.await.unwrap_or_else(|_| {
            let message = format!("{MAX_PROGRAMS} programs run already, and no more may");
            Err(Failure::new(FailureClass::Overload, message))
        })
    }

    /// Takes one of these locks as soon as others do not have all of them; `None` once it is not
    /// wanted any more.
    async fn one_of(
        &self,
        names: &[String],
        is_wanted: impl Fn() -> bool,
    ) -> Result<Option<FileLock>, Failure> {
        let failed = |error: &dyn Display| {
            let message = format!("cannot lock a file in `{}`: {error}", self.locks.display());
            Failure::new(FailureClass::Internal, message)
        };
        create_private_dir(&self.locks).map_err(|error| failed(&error))?;
        while is_wanted() {
            let mut locks = names.iter().map(|name| try_lock(&self.locks.join(name)));
            if let Some(free) = locks.find_map(Result::transpose) {
                return free.map(Some).map_err(|error| failed(&error));
            }
            sleep(LOOK).await;
        }
        Ok(None)
    }
}
