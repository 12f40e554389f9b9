//! Counts of work under way, and the row that shows them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::terminal::output::live_area::TerminalSize;
use crate::terminal::output::printer::{Printer, Verbosity};

/// Draws a row on standard error, if lines can be redrawn there. Dropping it clears the row.
#[derive(Debug)]
pub(super) struct LiveRow<C> {
    pub(super) printer: Printer,
    counts: Arc<Mutex<C>>,
    pub(super) is_live: bool,
}

impl<C: Send + 'static> LiveRow<C> {
    pub(super) fn new(
        printer: &Printer,
        counts: C,
        rows: impl Fn(&C, Duration, TerminalSize) -> Vec<String> + Send + 'static,
    ) -> Self {
        let is_live = printer.err_traits().is_animated && printer.verbosity() > Verbosity::Quiet;
        let counts = Arc::new(Mutex::new(counts));
        if is_live {
            let shared = Arc::clone(&counts);
            let rows = move |elapsed, size| rows(&lock(&shared), elapsed, size);
            printer.live_area().start(rows);
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

fn lock<C>(counts: &Mutex<C>) -> MutexGuard<'_, C> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}
