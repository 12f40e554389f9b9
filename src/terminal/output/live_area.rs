//! The part of the terminal that is redrawn in place on standard error. The caller supplies the
//! lines; drawing, the clock and the frame rate are indicatif's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::style::Paint;

/// The time between two frames.
pub(in crate::terminal) const FRAME: Duration = Duration::from_millis(100);

/// Columns and rows of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) struct TerminalSize {
    pub(in crate::terminal) columns: usize,
    pub(in crate::terminal) rows: usize,
}

/// Draws nothing before `start`.
pub(in crate::terminal) struct LiveArea {
    bar: ProgressBar,
    is_hidden: Arc<AtomicBool>,
    paint: Paint,
}

impl LiveArea {
    pub(in crate::terminal) fn new(paint: Paint) -> Self {
        Self {
            bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            is_hidden: Arc::new(AtomicBool::new(false)),
            paint,
        }
    }

    /// Begins to draw and to count the time. `lines` receives the elapsed time.
    pub(in crate::terminal) fn start(
        &self,
        lines: impl Fn(Duration, TerminalSize) -> Vec<String> + Clone + Send + Sync + 'static,
    ) {
        let (is_hidden, paint) = (Arc::clone(&self.is_hidden), self.paint);
        let draw = move |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            if is_hidden.load(Ordering::Relaxed) {
                return;
            }
            let (rows, columns) = Term::stderr().size_checked().unwrap_or((24, 80));
            let size = TerminalSize {
                columns: usize::from(columns),
                rows: usize::from(rows),
            };
            let screen = lines(state.elapsed(), size).join("\n");
            // Only a formatter that fails could make this fail.
            let _ = to.write_str(&paint.printable(&screen));
        };
        let style = ProgressStyle::with_template("{screen}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        self.bar.set_style(style.with_key("screen", draw));
        self.bar.reset_elapsed();
        self.bar.set_draw_target(ProgressDrawTarget::stderr());
        self.bar.enable_steady_tick(FRAME);
    }

    /// Removes the area from the terminal for good.
    pub(in crate::terminal) fn stop(&self) {
        self.bar.disable_steady_tick();
        self.suspend(|| self.set_hidden(true));
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
    }

    /// Hides the area until the guard is dropped: while a question is open.
    pub(in crate::terminal) fn hide(&self) -> HiddenGuard<'_> {
        self.suspend(|| self.set_hidden(true));
        HiddenGuard(self)
    }

    /// Runs a write to the terminal with the area out of its way.
    pub(in crate::terminal) fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    fn set_hidden(&self, is_hidden: bool) {
        self.is_hidden.store(is_hidden, Ordering::Relaxed);
    }
}

/// Keeps the live area hidden as long as it lives.
pub(in crate::terminal) struct HiddenGuard<'a>(&'a LiveArea);

impl Drop for HiddenGuard<'_> {
    fn drop(&mut self) {
        self.0.set_hidden(false);
    }
}
