//! Errors of commands: each has an exit code and hints that say what to do.

use std::error::Error as StdError;
use std::fmt;

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It succeeded.
    Answer = 0,
    /// It ran and failed: all agents failed, or every judge.
    Failed = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// The user did not agree to the cost or to continue, or could not be asked.
    Declined = 3,
    /// A call could have exceeded the ceiling, or far more was spent than estimated.
    Ceiling = 4,
    /// With `--strict`, fewer agents answered than the panel has.
    Quorum = 5,
    /// A benchmark's run was stopped by a stop condition, and can be resumed.
    Stopped = 6,
    /// The agent's loop is done.
    Done = 10,
    /// The loop of an agent or over a document needs a person.
    NeedsHuman = 11,
    /// The agent's loop fails and must not continue.
    Halted = 12,
    /// The loop of an agent or over a document makes no progress.
    Stalled = 13,
    /// The loop has used up its turns or iterations.
    Exhausted = 14,
    /// Ctrl-C, SIGTERM or a closed terminal.
    Interrupted = 130,
}

impl Exit {
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// An error of a command, for people.
#[derive(Debug)]
pub struct Error {
    pub exit: Exit,
    /// It is what the person did, such as an answer or Ctrl-C: nothing failed.
    pub is_chosen: bool,
    source: Box<dyn StdError + Send + Sync>,
    pub hints: Vec<String>,
}

impl Error {
    pub fn new(exit: Exit, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            exit,
            is_chosen: exit == Exit::Interrupted,
            source: source.into(),
            hints: Vec::new(),
        }
    }

    pub fn usage(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(Exit::Usage, source)
    }

    pub fn failed(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(Exit::Failed, source)
    }

    /// The person answered no.
    pub(crate) fn declined(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            is_chosen: true,
            ..Self::new(Exit::Declined, source)
        }
    }

    /// Returns a wrong use of the command with its cause.
    pub(crate) fn caused(
        what: impl Into<String>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        let (what, source) = (what.into(), source.into());
        Self::usage(CausedError { what, source })
    }

    /// Adds an action that fixes it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn hint_if(self, hint: Option<impl Into<String>>) -> Self {
        hint.into_iter().fold(self, Self::hint)
    }

    /// Returns what failed; its causes are its sources.
    pub fn source(&self) -> &(dyn StdError + 'static) {
        &*self.source
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

/// What failed, and its cause.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
struct CausedError {
    what: String,
    source: Box<dyn StdError + Send + Sync>,
}

/// On one line.
pub(crate) fn whole(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text.extend([": ", &source.to_string()]);
        cause = source.source();
    }
    text
}
