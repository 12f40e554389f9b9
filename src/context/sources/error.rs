//! The errors of sources: every path that cannot be used, or the limit that is exceeded.

use std::fmt;
use std::io;
use std::path::Path;

use thiserror::Error;

use super::decode::DecodeError;

/// The reason why sources cannot be used.
#[derive(Debug, Error)]
pub enum SourcesError {
    /// These paths cannot be used, in the order in which they were given.
    #[error("{} cannot be used; nothing was sent", count(.0.len(), "context file"))]
    Paths(Vec<PathError>),
}

/// A path that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub struct PathError {
    /// The path, safe to print.
    pub path: String,
    pub problem: PathProblem,
}

/// What is wrong with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathProblem {
    Missing,
    /// The system refuses to read it.
    Unreadable(String),
    NotText(DecodeError),
}

impl PathError {
    pub(super) fn new(path: &Path, problem: PathProblem) -> Self {
        Self {
            path: printable(path),
            problem,
        }
    }
}

impl PathProblem {
    pub(super) fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            // A file in place of a folder on the way.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            io::ErrorKind::PermissionDenied => Self::Unreadable("permission denied".to_owned()),
            _ => Self::Unreadable(error.to_string()),
        }
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.problem {
            PathProblem::Missing => write!(f, "Context file not found: {path}"),
            PathProblem::Unreadable(why) => write!(f, "Context file not readable: {path} ({why})"),
            PathProblem::NotText(why) => write!(f, "Context file is not text: {path} ({why})"),
        }
    }
}

/// Returns a path without characters that act on a terminal or begin a line.
pub(super) fn printable(path: &Path) -> String {
    let mut text = String::new();
    for c in path.to_string_lossy().chars() {
        if c == '\n' || c == '\t' || crate::domain::text::is_invisible(c) {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
