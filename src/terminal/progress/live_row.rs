//! Counts of work under way, and the rows that show them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::terminal::output::live_area::TerminalSize;
use crate::terminal::output::printer::{Printer, Verbosity};

/// Draws rows that fit the terminal on standard error, if lines can be redrawn there. Dropping it
/// clears them.
#[derive(Debug)]
pub(super) struct LiveRow<C> {
    pub(super) printer: Printer,
    pub(super) counts: Arc<Mutex<C>>,
    pub(super) is_live: bool,
}

impl<C: Send + 'static> LiveRow<C> {
    pub(super) fn new(
        printer: &Printer,
        counts: C,
        lines: impl Fn(&C, Duration, TerminalSize) -> Vec<String> + Send + 'static,
    ) -> Self {
        let is_live = printer.err_traits().is_animated && printer.verbosity() > Verbosity::Quiet;
        let counts = Arc::new(Mutex::new(counts));
        if is_live {
            let shared = Arc::clone(&counts);
            printer
                .live_area()
                .start(move |elapsed, size| lines(&lock(&shared), elapsed, size));
        }
        Self {
            printer: printer.clone(),
            counts,
            is_live,
        }
    }

    pub(super) fn counts(&self) -> MutexGuard<'_, C> {
        lock(&self.counts)
    }
}

impl<C> Drop for LiveRow<C> {
    fn drop(&mut self) {
        if self.is_live {
            self.printer.live_area().stop();
        }
    }
}

/// `None` while more may start.
pub(super) fn ending(is_ending: bool, running: u64) -> Option<String> {
    is_ending.then(|| match running {
        0 => "stopping".to_owned(),
        running => format!("stopping, {running} still running"),
    })
}

pub(super) fn lock<C>(counts: &Mutex<C>) -> MutexGuard<'_, C> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}
