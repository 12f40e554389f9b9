//! Does all printing.
//!
//! Invariants: standard output carries the result and nothing else. No control character reaches
//! either stream, except in styles and in the live area's own movements of the cursor: whatever is
//! printed passes `Paint::printable`. A closed pipe is not an error; a full disk is one.

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::text::clean::{capitalised, clean, pretty_json};

use super::live_area::last_line::LastLine;
use super::live_area::modes::TerminalModes;
use super::live_area::{LiveArea, TerminalSize, Typing};
use super::stream_traits::{StreamTraits, Variable, columns};
use super::style::Tone;
use super::wrap::{fit, wrap_options};

/// The amount of text printed beside the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    #[default]
    Normal,
    /// The estimate by stage and seat, retries, problems found in answers.
    Verbose,
}

/// Writes to both streams. Clones share them.
#[derive(Clone)]
pub struct Printer {
    inner: Arc<Inner>,
}

struct Inner {
    out: Mutex<Box<dyn Write + Send>>,
    out_traits: StreamTraits,
    err_traits: StreamTraits,
    /// Whether the streams are those of the process, whose terminal can change its size.
    is_process: bool,
    verbosity: Verbosity,
    has_notes: AtomicBool,
    mask: Mask,
    /// Standard error.
    live_area: LiveArea,
}

/// Masks what a message quotes: a path, an argument.
pub type Mask = Box<dyn Fn(&str) -> String + Send + Sync>;

impl std::fmt::Debug for Printer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Printer").finish_non_exhaustive()
    }
}

/// The result could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the result to standard output")]
pub struct PrintError(#[source] io::Error);

impl Printer {
    pub fn for_process(variable: Variable<'_>, verbosity: Verbosity, mask: Mask) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let (out_width, err_width) = (
            columns(&console::Term::stdout()),
            columns(&console::Term::stderr()),
        );
        let out_traits = StreamTraits::new(out.is_terminal(), out_width, variable);
        let err_traits = StreamTraits::new(err.is_terminal(), err_width, variable);
        let typing = if is_pipe(&out) {
            Typing::Shared
        } else {
            Typing::Own
        };
        Self::on_terminal(
            (Box::new(out), out_traits),
            (Box::new(err), err_traits),
            verbosity,
            mask,
            Some((TerminalModes::controlling(), typing)),
        )
    }

    /// Prints to any streams.
    pub fn new(
        out: (Box<dyn Write + Send>, StreamTraits),
        err: (Box<dyn Write + Send>, StreamTraits),
        verbosity: Verbosity,
        mask: Mask,
    ) -> Self {
        Self::on_terminal(out, err, verbosity, mask, None)
    }

    fn on_terminal(
        (out, out_traits): (Box<dyn Write + Send>, StreamTraits),
        (err, err_traits): (Box<dyn Write + Send>, StreamTraits),
        verbosity: Verbosity,
        mask: Mask,
        process: Option<(TerminalModes, Typing)>,
    ) -> Self {
        let is_process = process.is_some();
        let (modes, typing) = process.unwrap_or((TerminalModes::default(), Typing::Own));
        let columns = err_traits.width;
        let size = move || {
            let (rows, columns) = Some(console::Term::stderr())
                .filter(|_| is_process)
                .and_then(|terminal| terminal.size_checked())
                .map_or((24, columns), |(rows, columns)| (rows, columns.into()));
            TerminalSize {
                columns,
                rows: rows.into(),
            }
        };
        Self {
            inner: Arc::new(Inner {
                out: Mutex::new(out),
                out_traits,
                err_traits,
                is_process,
                verbosity,
                has_notes: AtomicBool::new(false),
                mask,
                live_area: LiveArea::new(err, err_traits, typing, modes, size),
            }),
        }
    }

    pub fn out_traits(&self) -> StreamTraits {
        self.with_present_width(self.inner.out_traits, console::Term::stdout)
    }

    pub fn err_traits(&self) -> StreamTraits {
        self.with_present_width(self.inner.err_traits, console::Term::stderr)
    }

    /// A terminal's width changes when a person drags its window.
    fn with_present_width(
        &self,
        traits: StreamTraits,
        terminal: fn() -> console::Term,
    ) -> StreamTraits {
        let present = (self.inner.is_process && traits.is_terminal)
            .then(|| columns(&terminal()))
            .flatten();
        let width = present.map_or(traits.width, |columns| usize::from(columns).max(1));
        StreamTraits { width, ..traits }
    }

    pub fn verbosity(&self) -> Verbosity {
        self.inner.verbosity
    }

    pub(in crate::terminal) fn live_area(&self) -> &LiveArea {
        &self.inner.live_area
    }

    /// Restores the terminal's modes and cursor, for a process that is about to end without
    /// unwinding.
    pub fn restore_terminal(&self) {
        self.inner.live_area.end();
    }

    /// Writes the whole result and flushes it. A closed pipe is not an error.
    pub fn result(&self, text: &str) -> Result<(), PrintError> {
        let Inner {
            out_traits,
            err_traits,
            has_notes,
            ..
        } = &*self.inner;
        if out_traits.is_terminal
            && err_traits.is_terminal
            && has_notes.swap(false, Ordering::Relaxed)
        {
            // On one screen, an empty line separates the result from what was printed before it.
            self.print_apart("\n");
        }
        // Files and other programs get the text as it is.
        if out_traits.is_terminal {
            return self.write_result(self.printable_result(text).as_bytes());
        }
        self.write_result(out_traits.paint.printable(text).as_bytes())
    }

    /// Writes the whole result without changing a byte, unless it goes to a terminal, which would
    /// obey the control characters in it.
    pub fn exact_result(&self, text: &str) -> Result<(), PrintError> {
        if self.inner.out_traits.is_terminal {
            // What is printed next to it begins on a line of its own.
            let is_whole = text.is_empty() || text.ends_with('\n');
            let end = if is_whole { "" } else { "\n" };
            return self.result(&format!("{text}{end}"));
        }
        self.write_result(text.as_bytes())
    }

    /// Writes bytes as they are, which are no text and not for a terminal, or are printable.
    pub fn write_result(&self, bytes: &[u8]) -> Result<(), PrintError> {
        let written = self.inner.live_area.suspend(|| {
            let mut out = lock(&self.inner.out);
            out.write_all(bytes).and_then(|()| out.flush())
        });
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(PrintError(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Returns the result as [`Self::result`] would write it, for another program that shows it.
    pub(in crate::terminal) fn printable_result(&self, text: &str) -> String {
        let paint = self.inner.out_traits.paint;
        paint.charset.text(&paint.printable(text))
    }

    pub fn json(&self, value: &impl Serialize) -> Result<(), PrintError> {
        let json = pretty_json(value).map_err(|error| PrintError(error.into()))?;
        self.result(&(json + "\n"))
    }

    /// Rings the bell, and sends a text of this program as a desktop notification, which terminals
    /// without them ignore. Nothing but a terminal gets it.
    pub fn notify(&self, text: &'static str, term: Option<&str>) {
        let traits = self.inner.err_traits;
        if !traits.is_animated {
            return;
        }
        // These terminals know the sequence of rxvt alone; the others that of iTerm2.
        let is_rxvts =
            term.is_some_and(|term| term.starts_with("rxvt") || term.starts_with("foot"));
        let notification = match (traits.is_synchronized, is_rxvts) {
            (false, _) => String::new(),
            (true, true) => format!("\u{1b}]777;notify;conclave;{text}\u{7}"),
            (true, false) => format!("\u{1b}]9;conclave: {text}\u{7}"),
        };
        // A terminal that is gone needs no bell.
        let _ = self.inner.live_area.signal(&format!("\u{7}{notification}"));
    }

    /// Prints a line beside the result.
    pub fn note(&self, line: &str) {
        if self.inner.verbosity > Verbosity::Quiet {
            self.lines(&self.hanging(line));
        }
    }

    /// Prints a line with `--verbose` only.
    pub fn detail(&self, line: &str) {
        if self.inner.verbosity == Verbosity::Verbose {
            self.lines(&self.inner.err_traits.paint.dim(&self.hanging(line)));
        }
    }

    /// Prints a warning. It is printed with `--quiet` too, because it is about a failure.
    pub fn warning(&self, line: &str) {
        self.lines(&self.inner.err_traits.paint.yellow(&self.hanging(line)));
    }

    /// Prints whole lines beside the result, with `--quiet` too.
    pub fn lines(&self, text: &str) {
        self.print_apart(&format!("{text}\n"));
    }

    /// Prints a paragraph, or an indented entry, beside the result, with `--quiet` too.
    pub fn prose(&self, text: &str, tone: Tone) {
        let StreamTraits { width, paint, .. } = self.err_traits();
        let text = clean(text);
        let text = if text.starts_with(' ') {
            fit(&text, Some(width))
        } else {
            textwrap::fill(&text, wrap_options(width, &text))
        };
        let lines: Vec<String> = text.lines().map(|line| paint.tone(tone, line)).collect();
        self.lines(&lines.join("\n"));
    }

    pub fn error(&self, error: &(dyn Error + 'static), hints: &[String]) {
        let label = self.inner.err_traits.paint.red("error:");
        let text = self.labelled("error:", label, &error.to_string());
        self.explained(text, error.source(), hints);
    }

    /// Prints how a command ended because the person wanted it to.
    pub fn ending(&self, error: &(dyn Error + 'static), hints: &[String]) {
        let text = self.hanging(&capitalised(&error.to_string())) + "\n";
        self.explained(text, error.source(), hints);
    }

    fn explained(&self, mut text: String, cause: Option<&(dyn Error + 'static)>, hints: &[String]) {
        let paint = self.inner.err_traits.paint;
        for source in std::iter::successors(cause, |cause| (**cause).source()) {
            let painted = "  ".to_owned() + &paint.dim("caused by:");
            text.push_str(&self.labelled("  caused by:", painted, &source.to_string()));
        }
        for hint in hints {
            text.push_str(&self.labelled("hint:", paint.cyan("hint:"), hint));
        }
        self.print_apart(&text);
    }

    /// The label is painted last: it must not be wrapped with its colour.
    fn labelled(&self, label: &str, painted: String, message: &str) -> String {
        let text = self.hanging(&format!("{label} {message}"));
        painted + text.strip_prefix(label).unwrap_or(&text) + "\n"
    }

    /// Asks a question. Text printed while it is open stands above it; dropping the returned value
    /// withdraws it.
    pub(in crate::terminal) fn ask(&self, question: &str) -> PlainQuestion {
        self.on_last_line(|last| last.ask(question));
        PlainQuestion(self.clone())
    }

    /// Ends the last line and closes a question on it.
    pub(in crate::terminal) fn end_line(&self) {
        self.on_last_line(|last| last.close().to_owned());
    }

    /// Continues the text that is being written; the next line printed starts on its own.
    pub(in crate::terminal) fn write_on(&self, text: &str) {
        self.on_last_line(|last| last.continued(text));
    }

    /// Returns standard error as a writer of lines, such as for `--events -`. The live area makes
    /// way for each write.
    pub fn stderr_writer(&self) -> StderrWriter {
        StderrWriter(self.clone())
    }

    /// Masks secrets, wraps lines to the terminal, and indents all but the first: a line break in
    /// text from outside cannot begin a line that passes for another message or a hint.
    fn hanging(&self, text: &str) -> String {
        let traits = self.err_traits();
        let width = traits.is_terminal.then_some(traits.width);
        let text = self.masked(&traits.paint.printable(text));
        let text = traits.paint.charset.text(&text);
        let lines = text.split('\n').enumerate().map(|(at, line)| {
            let is_flush = at > 0 && line.starts_with(|c: char| c != ' ');
            let indent = if is_flush { "  " } else { "" };
            fit(&format!("{indent}{line}"), width)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    pub fn masked(&self, message: &str) -> String {
        (self.inner.mask)(message)
    }

    fn print_apart(&self, text: &str) {
        self.on_last_line(|last| last.apart(text));
    }

    /// Drops an error of standard error itself: there is no other stream to report it on.
    fn on_last_line(&self, write: impl FnOnce(&mut LastLine) -> String) {
        let charset = self.inner.err_traits.paint.charset;
        let _ = self.write_stderr(|last| charset.text(&write(last)));
    }

    fn write_stderr(&self, write: impl FnOnce(&mut LastLine) -> String) -> io::Result<()> {
        self.inner.has_notes.store(true, Ordering::Relaxed);
        self.inner.live_area.print(write)
    }
}

/// A question that has not been answered; see [`Printer::ask`].
#[derive(Debug)]
pub(in crate::terminal) struct PlainQuestion(Printer);

impl PlainQuestion {
    /// Shows the answer behind the question and ends its line.
    pub(in crate::terminal) fn answered(self, word: &str) {
        self.0.on_last_line(|last| {
            last.answered();
            format!("{word}\n")
        });
    }
}

impl Drop for PlainQuestion {
    fn drop(&mut self) {
        self.0.end_line();
    }
}

/// A writer to standard error that is given whole lines; see [`Printer::stderr_writer`].
#[derive(Debug)]
pub struct StderrWriter(Printer);

impl Write for StderrWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0
            .write_stderr(|last| last.apart(&text))
            .map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints panics without control characters: their messages can quote text from outside. With a
/// printer, they stand above the live area.
pub fn clean_panics(printer: Option<&Printer>) {
    let printer = printer.cloned();
    std::panic::set_hook(Box::new(move |panic| {
        let message = clean(&panic.to_string());
        let area = printer.as_ref().map(|printer| &printer.inner.live_area);
        // The thread may hold the lock of the live area.
        if !area.is_some_and(|area| area.try_print_line(&message)) {
            let _ = writeln!(io::stderr(), "{message}");
        }
    }));
}

fn is_pipe(stream: &impl std::os::fd::AsFd) -> bool {
    let mode = rustix::fs::fstat(stream).map(|status| status.st_mode);
    mode.is_ok_and(|mode| rustix::fs::FileType::from_raw_mode(mode) == rustix::fs::FileType::Fifo)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
