//! The progress of a model download on stderr: a bar of bytes on a terminal, a few plain lines
//! elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::domain::text::one_line;
use crate::engine::ports::WorkProgress;
use crate::terminal::output::printer::{Printer, Verbosity};

/// Shows one download. Dropping it clears the bar.
#[derive(Debug)]
pub(in crate::terminal) struct DownloadBar {
    printer: Printer,
    bar: ProgressBar,
}

impl DownloadBar {
    /// Draws on stderr, if it is a terminal.
    pub(in crate::terminal) fn new(printer: &Printer) -> Self {
        let target = if printer.verbosity() > Verbosity::Quiet {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target).with_finish(ProgressFinish::AndClear);
        let style = ProgressStyle::with_template(
            "{msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
        );
        bar.set_style(
            style
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> "),
        );
        Self {
            printer: printer.clone(),
            bar,
        }
    }
}

impl WorkProgress for DownloadBar {
    /// Shows the step before the bar, or as a line where there is no terminal.
    fn step(&mut self, what: &str) {
        let what = one_line(what);
        if self.bar.message() != what {
            if self.bar.is_hidden() {
                self.printer.note(&what);
            }
            self.bar.set_message(what);
        }
    }

    fn at(&mut self, done: u64, of: u64) {
        self.bar.set_length(of);
        self.bar.set_position(done);
    }
}
