//! Counts of work under way, and the row that shows them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::terminal::output::live_area::TerminalSize;
use crate::terminal::output::printer::{Printer, Verbosity};

/// Draws a row that fits a width on standard error, if lines can be redrawn there. Dropping it
/// clears the row.
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
        row: impl Fn(&C, Duration, usize) -> String + Send + 'static,
    ) -> Self {
        let is_live = printer.err_traits().is_animated && printer.verbosity() > Verbosity::Quiet;
        let counts = Arc::new(Mutex::new(counts));
        if is_live {
            let shared = Arc::clone(&counts);
            printer
                .live_area()
                .start(move |elapsed, size: TerminalSize| {
                    let width = size.columns.saturating_sub(1).max(1);
                    vec![row(&lock(&shared), elapsed, width)]
                });
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

fn lock<C>(counts: &Mutex<C>) -> MutexGuard<'_, C> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}
