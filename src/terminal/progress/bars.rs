//! The progress of a model's download and of an index rebuild on stderr: a bar on a terminal, a few
//! plain lines elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::domain::text::one_line;
use crate::engine::ports::WorkProgress;
use crate::terminal::output::printer::{Printer, Verbosity};

/// Rebuilds of fewer consultations take a moment: no lines are printed.
const MANY: u64 = 10_000;

/// Lines printed during a rebuild without a terminal.
const LINES: u64 = 4;

/// Shows one download. Dropping it clears the bar.
#[derive(Debug)]
pub(in crate::terminal) struct DownloadBar {
    printer: Printer,
    bar: ProgressBar,
}

/// Shows one rebuild. Dropping it clears the bar.
#[derive(Debug)]
pub(in crate::terminal) struct RebuildBar {
    printer: Printer,
    bar: ProgressBar,
    /// Lines printed so far.
    lines_printed: u64,
}

impl DownloadBar {
    pub(in crate::terminal) fn new(printer: &Printer) -> Self {
        let template = "{msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes} \
                        {decimal_bytes_per_sec} {eta}";
        Self {
            printer: printer.clone(),
            bar: bar(printer, printer.err_traits().is_terminal, template),
        }
    }
}

impl RebuildBar {
    pub(in crate::terminal) fn new(printer: &Printer) -> Self {
        let template = "Rebuilding index... [{pos}/{len}] consultations";
        Self {
            printer: printer.clone(),
            bar: bar(printer, printer.err_traits().is_animated, template),
            lines_printed: 0,
        }
    }
}

/// Returns a bar on stderr, if it can be redrawn there and more than errors are wanted.
fn bar(printer: &Printer, is_redrawn: bool, template: &str) -> ProgressBar {
    let target = if is_redrawn && printer.verbosity() > Verbosity::Quiet {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(None, target)
        .with_finish(ProgressFinish::AndClear)
        .with_style(style.progress_chars("=> "))
}

impl WorkProgress for DownloadBar {
    /// Shows the step before the bar, or as a line where there is none.
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
