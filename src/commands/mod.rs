//! L6: the commands, with their arguments. `flags` and `face` are shared by several of them.

pub mod consult;
pub mod history;
pub mod view;
pub mod refine;
pub mod benchmark;
pub mod agent_loop;
pub mod mcp;
pub mod inventory;
pub mod scrub;
pub mod config;
pub mod completions;
mod flags;
mod face;

use jiff::tz::TimeZone;
use serde::Serialize;

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::engine::clock::Clock;
use crate::engine::interrupts;
use crate::error::{Error, Exit};
use crate::stopping::evaluation::Class;
use crate::terminal::output::printer::{PrintError, Printer};
use crate::terminal::output::style::Paint;

/// What every command works with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct App<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) printer: &'a Printer,
    pub(crate) clock: Clock,
    /// The time zone in which days are shown.
    pub(crate) zone: fn() -> TimeZone,
}

impl App<'_> {
    fn home(self) -> Result<Home, Error> {
        Home::find(self.environment).map_err(Error::usage)
    }

    /// `None` for a file or a pipe.
    fn print(
        self,
        is_json: bool,
        value: &impl Serialize,
        screen: impl FnOnce(Option<usize>, Paint) -> String,
    ) -> Result<(), Error> {
        if is_json {
            return Ok(self.printer.json(value)?);
        }
        self.show(screen)
    }

    /// `None` for a file or a pipe.
    fn show(self, screen: impl FnOnce(Option<usize>, Paint) -> String) -> Result<(), Error> {
        let traits = self.printer.out_traits();
        let width = traits.is_terminal.then_some(traits.width);
        let text = screen(width, traits.paint);
        Ok(self.printer.result(&traits.paint.charset.text(&text))?)
    }
}

impl From<PrintError> for Error {
    fn from(error: PrintError) -> Self {
        Self::failed(error)
    }
}

/// `success` is the code of a success.
fn exit_of_loop(class: Class, success: Exit) -> Exit {
    match class {
        Class::Done | Class::Converged => success,
        Class::NeedsHuman => Exit::NeedsHuman,
        Class::Halted => Exit::Halted,
        Class::Stalled => Exit::Stalled,
        Class::Exhausted => Exit::Exhausted,
        Class::Cancelled => Exit::Interrupted,
    }
}

/// Runs a dialogue until its end or the first interrupt, which restores the terminal.
pub(crate) fn until_interrupted<T>(
    printer: &Printer,
    interrupted: impl FnOnce() -> Error,
    dialogue: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let printer = printer.clone();
    let restore = move || printer.restore_terminal();
    to_end(restore, Box::pin(dialogue))?.unwrap_or_else(|| Err(interrupted()))
}

/// An open question is dropped, which restores the terminal.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Error> {
    // The first interrupt drops an open question, so nothing is left to restore at the second.
    let result = to_end(|| (), future)?;
    result.ok_or_else(|| Error::new(Exit::Interrupted, "interrupted"))
}

fn to_end<T>(
    restore: impl FnOnce() + Send + 'static,
    future: impl Future<Output = T>,
) -> Result<Option<T>, Error> {
    interrupts::to_end(Exit::Interrupted.code(), restore, future).map_err(cannot_start)
}

/// The system has no threads or file handles for the program.
#[derive(Debug, thiserror::Error)]
#[error("cannot start")]
struct StartError(#[source] std::io::Error);

pub(crate) fn cannot_start(error: std::io::Error) -> Error {
    Error::failed(StartError(error))
        .hint("allow more open files (`ulimit -n 1024`) and processes (`ulimit -u 1024`)")
}
