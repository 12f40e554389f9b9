//! The live display: one line for each agent at work and one for the run, redrawn in place on
//! standard error. What it shows is `screen`'s business; drawing it, and the clock, are
//! indicatif's.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::style::Paint;
use crate::terminal::progress::live_view::{FRAME, Screen};

/// The display and what is on it. Nothing is drawn before `start`.
pub(in crate::terminal) struct Live {
    bar: ProgressBar,
    screen: Arc<Mutex<Screen>>,
}

impl Live {
    pub(in crate::terminal) fn new(paint: Paint, bar: ProgressBar) -> Self {
        Self {
            bar,
            screen: Arc::new(Mutex::new(Screen::new(paint))),
        }
    }

    /// Begins to draw, and to count the time.
    pub(in crate::terminal) fn start(&self) {
        let screen = Arc::clone(&self.screen);
        let draw = move |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            let (rows, columns) = Term::stderr().size_checked().unwrap_or((24, 80));
            let lines =
                lock(&screen).lines(state.elapsed(), usize::from(columns), usize::from(rows));
            // Only a formatter that fails could make this fail.
            let _ = to.write_str(&lines.join("\n"));
        };
        let style = ProgressStyle::with_template("{screen}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        self.bar.set_style(style.with_key("screen", draw));
        self.bar.reset_elapsed();
        self.bar.set_draw_target(ProgressDrawTarget::stderr());
        self.bar.enable_steady_tick(FRAME);
    }

    /// True when nothing is drawn: before the first line, or while a question is open.
    pub(in crate::terminal) fn is_hidden(&self) -> bool {
        lock(&self.screen).is_blank()
    }

    /// Takes the display away for good.
    pub(in crate::terminal) fn stop(&self) {
        self.bar.disable_steady_tick();
        self.aside(|| lock(&self.screen).hide());
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
    }

    /// Leaves what is drawn where it is, for good. The echo of Ctrl-C has moved the cursor, so that
    /// nothing can be redrawn in place.
    pub(in crate::terminal) fn leave(&self) {
        self.bar.disable_steady_tick();
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        let mut screen = lock(&self.screen);
        screen.hide();
        screen.clear();
    }

    /// Takes the display away until what is returned is dropped: while a question is open.
    pub(in crate::terminal) fn hide(&self) -> Hidden<'_> {
        self.aside(|| lock(&self.screen).hide());
        Hidden(self)
    }

    /// Runs what writes to the terminal, with the display out of its way.
    pub(in crate::terminal) fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    /// Changes what is shown; it is drawn with the next frame.
    pub(in crate::terminal) fn update(&self, change: impl FnOnce(&mut Screen)) {
        change(&mut lock(&self.screen));
    }
}

/// The display is out of the way as long as this lives.
pub(in crate::terminal) struct Hidden<'a>(&'a Live);

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        lock(&self.0.screen).show();
    }
}

fn lock(screen: &Mutex<Screen>) -> MutexGuard<'_, Screen> {
    screen.lock().unwrap_or_else(PoisonError::into_inner)
}
