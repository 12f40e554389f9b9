//! The progress of an index rebuild on stderr: a bar on a terminal, a few plain lines elsewhere if
//! it takes long.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::engine::ports::WorkProgress;
use crate::terminal::output::printer::{Printer, Verbosity};

/// Fewer consultations than this are indexed in a moment: no lines are printed.
const MANY: u64 = 10_000;

/// Lines printed during a rebuild without a terminal.
const LINES: u64 = 4;

/// Shows one rebuild. Dropping it clears the bar.
#[derive(Debug)]
pub(in crate::terminal) struct RebuildBar {
    printer: Printer,
    bar: ProgressBar,
    /// Lines printed so far.
    lines_printed: u64,
}

impl RebuildBar {
    /// Draws on stderr, if lines can be redrawn there.
    pub(in crate::terminal) fn new(printer: &Printer) -> Self {
        let is_drawn = printer.err_traits().is_animated && printer.verbosity() > Verbosity::Quiet;
        let target = if is_drawn {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target).with_finish(ProgressFinish::AndClear);
        let style = ProgressStyle::with_template("Rebuilding index... [{pos}/{len}] consultations");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self {
            printer: printer.clone(),
            bar,
            lines_printed: 0,
        }
    }
}

impl WorkProgress for RebuildBar {
    fn step(&mut self, what: &str) {
        self.printer.note(what);
    }

    fn at(&mut self, done: u64, of: u64) {
        self.bar.set_length(of);
        self.bar.set_position(done);
        let lines = (done * LINES).checked_div(of).unwrap_or_default();
        if self.bar.is_hidden() && of >= MANY && lines > self.lines_printed {
            self.lines_printed = lines;
            self.printer
                .note(&format!("Rebuilding index... [{done}/{of}] consultations"));
        }
    }
}
