//! The errors of sources: every path that cannot be used, or the limit that is exceeded.

use std::fmt;
use std::io;
use std::path::Path;

use thiserror::Error;

use super::DecodeError;
use super::{SourceSize, megabytes};
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
        limits: SourceSize,
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
    /// `unreadable` where the system refuses it.
    pub(super) fn of_io(error: &io::Error, unreadable: fn(String) -> Self) -> Self {
        match error.kind() {
            // A file in place of a folder on the way.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            io::ErrorKind::PermissionDenied => unreadable("permission denied".to_owned()),
            _ => unreadable(printable(Path::new(&error.to_string()))),
        }
    }
}

impl From<io::Error> for PathProblem {
    fn from(error: io::Error) -> Self {
        Self::of_io(&error, Self::Unreadable)
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

fn exceeded(found: SourceSize, limits: SourceSize) -> String {
    let exceeds =
        |found: &str, limit: &str| format!("the context has {found}, and the limit is {limit}");
    let files = count(found.files, "file");
    let files = (found.files > limits.files).then(|| exceeds(&files, &limits.files.to_string()));
    let bytes = (found.bytes > limits.bytes)
        .then(|| exceeds(&megabytes(found.bytes), &megabytes(limits.bytes)));
    files
        .into_iter()
        .chain(bytes)
        .collect::<Vec<_>>()
        .join("; ")
}
