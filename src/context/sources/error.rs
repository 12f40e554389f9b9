//! The errors of sources: every path that cannot be used, or the limit that is exceeded.

use std::fmt;
use std::io;
use std::path::Path;

use thiserror::Error;

use super::DecodeError;
use super::{SourceLimits, SourceSize, megabytes};
use crate::text::clean::count;

/// The reason why sources cannot be used.
#[derive(Debug, Error)]
pub enum SourcesError {
    /// These paths cannot be used, in the order in which they were given.
    #[error("{} cannot be used; nothing was sent", count(.0.len(), "context path"))]
    Paths(Vec<PathError>),
    /// All files together exceed a limit.
    #[error("{}; nothing was sent", exceeded(*.found, *.limits))]
    Limits {
        found: SourceSize,
        limits: SourceLimits,
    },
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
    /// The system refuses to list it.
    UnreadableFolder(String),
    NotText(DecodeError),
    /// A folder without a text file.
    NoText,
    /// A glob that matches no text file.
    NoMatch,
    /// A glob that cannot be read.
    Pattern(String),
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
            PathProblem::UnreadableFolder(why) => {
                write!(f, "Context folder not readable: {path} ({why})")
            }
            PathProblem::NotText(why) => write!(f, "Context file is not text: {path} ({why})"),
            PathProblem::NoText => write!(f, "Context folder has no text file: {path}"),
            PathProblem::NoMatch => write!(f, "No context file matches: {path}"),
            PathProblem::Pattern(why) => write!(f, "Context pattern is not valid: {path} ({why})"),
        }
    }
}

/// Returns a path without characters that act on a terminal or begin a line.
pub(super) fn printable(path: &Path) -> String {
    let mut text = String::new();
    for c in path.to_string_lossy().chars() {
        if c == '\n' || c == '\t' || crate::text::clean::is_invisible(c) {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

/// Returns which limits the sources exceed.
fn exceeded(found: SourceSize, limits: SourceLimits) -> String {
    let mut parts = Vec::new();
    if found.files > limits.files {
        parts.push(format!(
            "the context has {}, and the limit is {}",
            count(found.files, "file"),
            limits.files
        ));
    }
    if found.bytes > limits.bytes {
        parts.push(format!(
            "the context has {}, and the limit is {}",
            megabytes(found.bytes),
            megabytes(limits.bytes)
        ));
    }
    parts.join("; ")
}
