//! Shows a consultation as it happens: live lines on a terminal, plain lines elsewhere.

mod announcements;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::consultation::event::Envelope;
use crate::domain::ids::CallId;
use crate::domain::time::Timestamp;
use crate::engine::ports::{Delta, Subscriber, SubscriberError};

use super::facts::RunFacts;
use super::judge_stream::JudgeStream;
use super::live_view::LiveView;
use crate::terminal::output::printer::{Printer, Verbosity};

/// The subscriber that writes progress to standard error.
#[derive(Debug)]
pub struct ProgressReporter {
    printer: Printer,
    display: DisplayMode,
    facts: RunFacts,
    /// Shared with the live area, which draws it.
    view: Arc<Mutex<LiveView>>,
    /// The judge's text, with `--stream`.
    judge: Option<JudgeStream>,
    /// The warning about degraded providers is printed once.
    is_degradation_reported: bool,
    /// Warnings of failures, until a provider has handled a call. If none does, the error at the
    /// end says it once for all; `None` from then on.
    held_warnings: Option<Vec<String>>,
}

/// The form in which progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DisplayMode {
    /// Lines that are redrawn.
    Live,
    /// One line after another.
    Plain,
    /// Not at all.
    Silent,
}

impl ProgressReporter {
    /// Shows live lines where standard error can be redrawn, else plain ones; nothing when only
    /// errors are wanted. `is_shared` says that something else writes to standard error too, which
    /// gets plain lines; `streams` that the judge's text is shown as it is written.
    pub fn new(printer: Printer, is_shared: bool, streams: bool) -> Self {
        let traits = printer.err_traits();
        let display = match printer.verbosity() {
            Verbosity::Quiet => DisplayMode::Silent,
            _ if traits.is_animated && !is_shared => DisplayMode::Live,
            Verbosity::Normal | Verbosity::Verbose => DisplayMode::Plain,
        };
        let wrap_at = (display == DisplayMode::Live).then_some(traits.width);
        let has_judge = streams && display != DisplayMode::Silent;
        Self {
            printer,
            display,
            facts: RunFacts::default(),
            view: Arc::new(Mutex::new(LiveView::new(traits.paint))),
            judge: has_judge.then(|| JudgeStream::new(wrap_at, traits.paint)),
            is_degradation_reported: false,
            held_warnings: Some(Vec::new()),
        }
    }

    /// Learns from the events of an earlier run without showing them again: for a resumed
    /// consultation.
    pub fn catch_up(&mut self, earlier: &[Envelope], now: Timestamp) {
        for envelope in earlier {
            self.learn(envelope);
        }
        self.facts.start_clock(now);
    }

    fn learn(&mut self, envelope: &Envelope) {
        self.facts.learn(envelope);
        let elapsed = self.facts.elapsed(envelope.at);
        let mut view = self.view();
        view.leave_out(self.facts.waited_for_person);
        view.follow(&envelope.event, elapsed);
    }

    fn view(&self) -> MutexGuard<'_, LiveView> {
        lock(&self.view)
    }

    fn start_live(&self) {
        if self.display == DisplayMode::Live {
            let view = Arc::clone(&self.view);
            self.printer
                .live_area()
                .start(move |elapsed, size| lock(&view).lines(elapsed, size));
        }
    }

    fn leave_rows(&self, elapsed: Duration) {
        self.printer.end_line();
        let width = self.printer.err_traits().width;
        let rows = {
            let mut view = self.view();
            view.stop_all();
            view.take_lines(elapsed, width)
        };
        self.printer.live_area().stop();
        if self.display == DisplayMode::Live {
            for row in &rows {
                self.printer.note(row);
            }
        }
    }

    fn print_judges_text(&self, text: &str) {
        if !text.is_empty() {
            self.printer.write_on(text);
        }
    }

    fn details(&self, lines: impl IntoIterator<Item = String>) {
        lines
            .into_iter()
            .for_each(|line| self.printer.detail(&line));
    }

    fn heading(&self, line: &str) {
        self.printer
            .note(&self.printer.err_traits().paint.bold(line));
    }

    /// Returns `None` where lines are not wrapped.
    fn width(&self) -> Option<usize> {
        Some(self.printer.err_traits())
            .filter(|face| face.is_terminal)
            .map(|face| face.width)
    }
}

impl Subscriber for ProgressReporter {
    fn event(&mut self, envelope: &Envelope) -> Result<(), SubscriberError> {
        if self.display != DisplayMode::Silent {
            self.learn(envelope);
            let elapsed = self.facts.elapsed(envelope.at);
            self.announce(&envelope.event, elapsed);
        }
        Ok(())
    }

    fn trouble(&mut self, what: &str) {
        self.printer.warning(what);
    }

    fn delta(&mut self, call: CallId, delta: &Delta) {
        if self.display == DisplayMode::Live {
            self.view().receive(call, delta);
        }
        if let (Some(judge), Delta::Text(piece)) = (&mut self.judge, delta) {
            let text = judge.write(call, piece, Instant::now());
            self.print_judges_text(&text);
        }
    }
}

impl Drop for ProgressReporter {
    /// A run that ends without a last event leaves no half-drawn lines behind.
    fn drop(&mut self) {
        if self.display == DisplayMode::Live {
            self.printer.live_area().stop();
        }
    }
}

fn lock(view: &Mutex<LiveView>) -> MutexGuard<'_, LiveView> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}
