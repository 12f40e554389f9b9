//! The part of standard error that is redrawn in place: the rows of a run, and below them the lines
//! of a question that takes one key. Everything else that is written to standard error passes here
//! too, so that it stands above the rows.
//!
//! While there are rows, the cursor is hidden and typing leaves no marks. A process in the
//! background draws nothing. Its thread (`frames`) draws and answers the signals that stop and
//! continue the process.
//!
//! Invariant: the caller of any function here holds no lock that its rows take, because they are
//! computed under the lock of the area.

pub(super) mod modes;
pub(super) mod last_line;
mod frames;

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

use console::truncate_str;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::live_area::last_line::LastLine;
use super::live_area::modes::{InputMode, ModeGuard, TerminalModes};
use super::rows::DrawnRows;
use super::stream_traits::StreamTraits;
use super::style::Paint;

pub(in crate::terminal) use super::rows::TerminalSize;

/// The time between two frames.
pub(in crate::terminal) const FRAME: Duration = Duration::from_millis(250);

const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
/// A row that is too wide for a moment, because the terminal has just become narrower, must not
/// move the rows below it.
const NO_WRAP: &str = "\u{1b}[?7l";
const WRAP: &str = "\u{1b}[?7h";
/// Between these, the terminal shows nothing (DEC mode 2026). Terminals without it ignore them.
const BEGIN_FRAME: &str = "\u{1b}[?2026h";
const END_FRAME: &str = "\u{1b}[?2026l";

/// Who else reads the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typing {
    /// Only this process.
    Own,
    /// Perhaps also the program that reads the answer, such as a pager. It sets the terminal's
    /// modes, and at its end those that it found: if typing left no marks when it started, that
    /// would stay.
    Shared,
}

/// The area and the stream that it is part of. Clones share it.
#[derive(Clone)]
pub(in crate::terminal) struct LiveArea(Arc<Shared>);

struct Shared {
    state: Mutex<AreaState>,
    modes: TerminalModes,
    traits: StreamTraits,
    typing: Typing,
    /// There is something new to draw.
    changed: Notify,
    /// Whether the thread runs; it starts when it is first needed.
    thread: OnceLock<bool>,
}

/// Computes the rows from the elapsed time.
type MakeRows = dyn Fn(Duration, TerminalSize) -> Vec<String> + Send;

/// Computes the lines of a question.
type MakeFooter = dyn Fn(TerminalSize) -> Vec<String> + Send;

struct AreaState {
    writer: Box<dyn Write + Send>,
    paint: Paint,
    size: Box<dyn Fn() -> TerminalSize + Send>,
    last_line: LastLine,
    rows: Option<Rows>,
    /// Lines below the rows; the newest are shown.
    footers: Vec<(u64, Box<MakeFooter>)>,
    next_footer: u64,
    /// The number of reasons to draw nothing.
    hidden: usize,
    is_released: bool,
    drawn: DrawnRows,
    is_cursor_hidden: bool,
}

/// The rows of a run.
struct Rows {
    make: Box<MakeRows>,
    since: Instant,
    _quiet: Option<ModeGuard>,
}

impl LiveArea {
    pub(super) fn new(
        writer: Box<dyn Write + Send>,
        traits: StreamTraits,
        typing: Typing,
        modes: TerminalModes,
        size: impl Fn() -> TerminalSize + Send + 'static,
    ) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(AreaState {
                writer,
                paint: traits.paint,
                size: Box::new(size),
                last_line: LastLine::default(),
                rows: None,
                footers: Vec::new(),
                next_footer: 0,
                hidden: 0,
                is_released: false,
                drawn: DrawnRows::default(),
                is_cursor_hidden: false,
            }),
            modes,
            traits,
            typing,
            changed: Notify::new(),
            thread: OnceLock::new(),
        }))
    }

    /// Begins to draw rows and to count the time. `rows` receives the elapsed time.
    pub(in crate::terminal) fn start(
        &self,
        rows: impl Fn(Duration, TerminalSize) -> Vec<String> + Send + 'static,
    ) {
        if !self.can_draw() {
            return;
        }
        let quiet = (self.0.typing == Typing::Own).then(|| self.0.modes.enter(InputMode::Quiet));
        self.0.state().rows = Some(Rows {
            make: Box::new(rows),
            since: Instant::now(),
            _quiet: quiet,
        });
        self.0.changed.notify_one();
    }

    pub(in crate::terminal) fn stop(&self) {
        let mut state = self.0.state();
        state.rows = None;
        self.0.draw(&mut state);
    }

    /// Lets keys be read one by one until the guard is dropped: for a question whose answer is a
    /// key.
    pub(in crate::terminal) fn keys(&self) -> ModeGuard {
        // The thread restores the terminal for Ctrl-Z.
        self.can_draw();
        self.0.modes.enter(InputMode::Keys)
    }

    /// Shows lines below the rows until the guard is dropped. Returns `None` where nothing can be
    /// redrawn.
    pub(in crate::terminal) fn footer(
        &self,
        lines: impl Fn(TerminalSize) -> Vec<String> + Send + 'static,
    ) -> Option<Footer> {
        if !self.can_draw() {
            return None;
        }
        let mut state = self.0.state();
        let id = state.next_footer;
        state.next_footer += 1;
        state.footers.push((id, Box::new(lines)));
        self.0.draw(&mut state);
        Some(Footer {
            area: self.clone(),
            id,
        })
    }

    pub(in crate::terminal) fn is_in_foreground(&self) -> bool {
        self.0.modes.is_in_foreground()
    }

    pub(super) fn print(&self, write: impl FnOnce(&mut LastLine) -> String) -> io::Result<()> {
        let mut state = self.0.state();
        let text = write(&mut state.last_line);
        let text = state.paint.printable(&text);
        self.0.print(&mut state, &text)
    }

    /// Writes a sequence of this program that moves nothing on the screen, such as the bell.
    pub(super) fn signal(&self, sequence: &str) -> io::Result<()> {
        self.0.state().write(sequence)
    }

    /// Writes a line in place of the rows, which the next frame draws below it. Does nothing while
    /// a thread is writing. Returns whether the line was written.
    pub(super) fn try_print_line(&self, line: &str) -> bool {
        let Some(mut state) = self.0.try_state() else {
            return false;
        };
        let text = state.last_line.apart(&format!("{line}\n"));
        // The caller may hold a lock that the rows take.
        state.hidden += 1;
        let result = self.0.print(&mut state, &text);
        state.hidden -= 1;
        result.is_ok()
    }

    /// Runs a write to another stream of the same terminal, with the rows out of its way.
    pub(super) fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        let mut state = self.0.state();
        state.hidden += 1;
        self.0.draw(&mut state);
        let result = write();
        state.hidden -= 1;
        self.0.draw(&mut state);
        result
    }

    /// Restores the terminal before the process ends without unwinding. Never waits for a thread
    /// that writes.
    pub(super) fn end(&self) {
        if let Some(mut state) = self.0.try_state() {
            state.hidden += 1;
            self.0.draw(&mut state);
        }
        self.0.modes.release();
    }

    fn can_draw(&self) -> bool {
        self.0.traits.is_animated && *self.0.thread.get_or_init(|| frames::start(&self.0).is_ok())
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, AreaState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_state(&self) -> Option<MutexGuard<'_, AreaState>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn draw(&self, state: &mut AreaState) {
        // The stream itself fails: there is no other to report it on.
        let _ = self.print(state, "");
    }

    /// Writes the text above the rows and draws what has changed, as one frame.
    fn print(&self, state: &mut AreaState, text: &str) -> io::Result<()> {
        if !self.traits.is_animated {
            return state.write(text);
        }
        if !self.modes.is_in_foreground() {
            state.lose_terminal();
            return state.write(text);
        }
        self.modes.refresh();
        let mut frame = String::new();
        if !text.is_empty() {
            frame.extend([state.drawn.erase(), text]);
        }
        let size = (state.size)();
        let rows = state.rows(size);
        let wants_cursor = rows.is_empty();
        let changes = state.drawn.draw(rows, size);
        if !changes.is_empty() {
            frame.extend([NO_WRAP, &changes, WRAP]);
        }
        if wants_cursor == state.is_cursor_hidden {
            state.is_cursor_hidden = !wants_cursor;
            frame.push_str(if wants_cursor {
                SHOW_CURSOR
            } else {
                HIDE_CURSOR
            });
        }
        // Text alone is no frame.
        if self.traits.is_synchronized && frame != text {
            frame = [BEGIN_FRAME, &frame, END_FRAME].concat();
        }
        state.write(&frame)
    }
}

impl AreaState {
    fn rows(&self, size: TerminalSize) -> Vec<String> {
        // Rows stand on lines of their own.
        if self.hidden > 0 || self.is_released || !self.last_line.is_whole() {
            return Vec::new();
        }
        let footer = self.footers.last().map(|(_, lines)| lines(size));
        let mut footer = self.fitted(footer.unwrap_or_default(), size);
        // The question itself is at the end of its lines, and stays in sight.
        let room = size.rows.saturating_sub(1).max(1);
        footer.drain(..footer.len().saturating_sub(room));
        let gap = usize::from(!footer.is_empty());
        let room = TerminalSize {
            rows: size.rows.saturating_sub(footer.len() + gap),
            ..size
        };
        let rows = self.rows.as_ref();
        let rows = rows.map(|rows| (rows.make)(rows.since.elapsed(), room));
        let mut rows = self.fitted(rows.unwrap_or_default(), size);
        rows.truncate(room.rows.saturating_sub(1));
        if !rows.is_empty() && !footer.is_empty() {
            rows.push(String::new());
        }
        rows.extend(footer);
        rows
    }

    /// No row is wider than the terminal.
    fn fitted(&self, lines: Vec<String>, size: TerminalSize) -> Vec<String> {
        // The last column stays free: some terminals wrap as soon as it is filled.
        let width = size.columns.saturating_sub(1).max(1);
        let end = self.paint.charset.text("…");
        let mut fitted = Vec::new();
        for line in lines {
            let line = self.paint.printable(&line).replace('\t', " ");
            let line = self.paint.charset.text(&line);
            fitted.extend(
                line.split('\n')
                    .map(|row| truncate_str(row, width, &end).into_owned()),
            );
        }
        fitted
    }

    fn lose_terminal(&mut self) {
        self.drawn.forget();
        self.is_cursor_hidden = false;
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.writer.write_all(text.as_bytes())?;
        self.writer.flush()
    }
}

/// Lines below the rows; see [`LiveArea::footer`].
pub(in crate::terminal) struct Footer {
    area: LiveArea,
    id: u64,
}

impl Footer {
    pub(in crate::terminal) fn redraw(&self) {
        self.area.0.draw(&mut self.area.0.state());
    }
}

impl Drop for Footer {
    fn drop(&mut self) {
        let mut state = self.area.0.state();
        state.footers.retain(|(id, _)| *id != self.id);
        self.area.0.draw(&mut state);
    }
}

#[cfg(test)]
mod tests;
