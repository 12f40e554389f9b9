//! Reopens journals within the test process.

use std::path::Path;

use conclave::consultation::event::Envelope;
use conclave::files::log::{LockPolicy, LogError};
use conclave::records::journal::Journal;

/// Reopens a journal that is no longer in use. A process that another test forks at this moment
/// inherits the lock until it calls `exec`, so the lock may be held for an instant.
pub(crate) fn reopen(path: &Path) -> (Journal, Vec<Envelope>) {
    for _ in 0..1_000_000 {
        match Journal::reopen(path, LockPolicy::Refuse) {
            Err(LogError::Busy(_)) => std::thread::yield_now(),
            reopened => return reopened.unwrap(),
        }
    }
    panic!("`{}` stays locked", path.display());
}
