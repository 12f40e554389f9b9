//! The progress of a model's download and of an index rebuild on stderr: a bar on a terminal, a few
//! plain lines elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::engine::ports::{LongWork, WorkProgress};
use crate::terminal::output::printer::{Printer, Verbosity};
use crate::text::clean::one_line;

/// Rebuilds of fewer consultations take a moment: no lines are printed.
const MANY: u64 = 10_000;

/// Lines printed during a rebuild without a terminal.
const LINES: u64 = 4;

/// Shows one piece of work. Dropping it clears the bar.
#[derive(Debug)]
pub(in crate::terminal) struct WorkBar {
    printer: Printer,
    work: LongWork,
    bar: ProgressBar,
    step: String,
    lines_printed: u64,
}

impl WorkBar {
    /// Draws on stderr, if it can be redrawn there and more than errors are wanted.
    pub(in crate::terminal) fn new(printer: &Printer, work: LongWork) -> Self {
        let traits = printer.err_traits();
        let (is_redrawn, template) = match work {
            LongWork::Download => (
                traits.is_terminal,
                "{msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
            ),
            LongWork::IndexRebuild => (
                traits.is_animated,
                "Rebuilding index... [{pos}/{len}] consultations",
            ),
        };
        let target = if is_redrawn && printer.verbosity() > Verbosity::Quiet {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Self {
            printer: printer.clone(),
            work,
            bar: ProgressBar::with_draw_target(None, target)
                .with_finish(ProgressFinish::AndClear)
                .with_style(style.progress_chars("=> ")),
            step: String::new(),
            lines_printed: 0,
        }
    }
}

impl WorkProgress for WorkBar {
    fn step(&mut self, what: &str) {
        let what = one_line(what);
        if self.step == what {
            return;
        }
        self.step.clone_from(&what);
        // The bar of a rebuild has no place for it.
        if self.work == LongWork::IndexRebuild || self.bar.is_hidden() {
            self.printer.note(&what);
        } else {
            let charset = self.printer.err_traits().paint.charset;
            self.bar.set_message(charset.text(&what));
        }
    }

    fn at(&mut self, done: u64, of: u64) {
        self.bar.set_length(of);
        self.bar.set_position(done);
        let is_said = self.work == LongWork::IndexRebuild && self.bar.is_hidden() && of >= MANY;
        let lines = (done * LINES).checked_div(of).unwrap_or_default();
        if is_said && lines > self.lines_printed {
            self.lines_printed = lines;
            self.printer
                .note(&format!("Rebuilding index... [{done}/{of}] consultations"));
        }
    }
}
