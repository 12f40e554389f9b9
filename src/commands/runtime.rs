//! Runs a future of a command to its end or to the first interrupt, on a runtime of its own.

use crate::engine::interrupts;
use crate::error::{Error, Exit};
use crate::terminal::output::printer::Printer;

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

/// Runs a future on a runtime of its own to its end, or to the first interrupt: an open question is
/// dropped, which restores the terminal.
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
