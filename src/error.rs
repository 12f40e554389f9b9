//! Where failures meet people: what kind of failure decides the exit code, and each carries hints
//! that say what to do.

use std::error::Error as StdError;
use std::fmt;

/// How a command ended, as its exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// There is an answer.
    Answer,
    /// It ran and failed: all agents failed, the judge failed.
    Failed,
    /// The command line or the configuration is wrong.
    Usage,
    /// The user did not agree to the cost, or could not be asked.
    Declined,
    /// A call could have broken the ceiling, or too much was spent.
    Ceiling,
    /// The result would have been less than the panel promised, which was refused.
    Quorum,
    /// Ctrl-C, or the process was told to end.
    Interrupted,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Answer => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Declined => 3,
            Self::Ceiling => 4,
            Self::Quorum => 5,
            Self::Interrupted => 130,
        }
    }
}

/// A failure of a command, for people.
#[derive(Debug)]
pub struct Error {
    pub exit: Exit,
    source: Box<dyn StdError + Send + Sync>,
    hints: Vec<String>,
}

impl Error {
    pub fn new(exit: Exit, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            exit,
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

    /// Adds an action that mends it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// What failed, with its causes behind it.
    pub fn source(&self) -> &(dyn StdError + 'static) {
        &*self.source
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

/// An error with its causes, on one line.
pub(crate) fn whole(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text.extend([": ", &source.to_string()]);
        cause = source.source();
    }
    text
}
