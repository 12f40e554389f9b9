//! Journals reopened within the process of the tests.

use std::path::Path;

use conclave::consultation::event::Envelope;
use conclave::records::journal::{Journal, ReopenError, Unlocked};

/// Reopens a journal that has been let go of. A program that another test starts at this moment has
/// its lock too, until it is itself.
pub(crate) fn reopen(path: &Path) -> (Journal, Vec<Envelope>) {
    for _ in 0..1_000_000 {
        match Journal::reopen(path, Unlocked::Refused) {
            Err(ReopenError::Busy { .. }) => std::thread::yield_now(),
            reopened => return reopened.unwrap(),
        }
    }
    panic!("`{}` stays locked", path.display());
}
