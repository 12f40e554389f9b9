//! The problems of a suite, each with its place, and their log while its files are read.

use std::sync::Arc;
use std::{fmt, io};

use indexmap::IndexSet;
use thiserror::Error;

use crate::domain::names::did_you_mean;
use crate::text::clean::count;
use crate::text::node::{Node, NodeMap};

/// The problems and notes of a suite while it is read.
#[derive(Debug, Default)]
pub(super) struct ProblemLog {
    pub(super) problems: Vec<SuiteProblem>,
    /// What a person may want to know of a suite that can be used; each once.
    pub(super) notes: IndexSet<String>,
    /// The shapes of its files.
    pub(super) shapes: IndexSet<String>,
}

impl ProblemLog {
    pub(super) fn add(&mut self, place: &SuitePlace, problem: impl Into<String>) {
        self.problems.push(SuiteProblem {
            place: place.clone(),
            problem: printable(&problem.into()),
        });
    }
}

/// A file that is being read, and the log of its problems.
#[derive(Debug)]
pub(super) struct FileLog<'a> {
    file: Arc<str>,
    log: &'a mut ProblemLog,
}

impl<'a> FileLog<'a> {
    /// `file` is the path as it is shown.
    pub(super) fn new(file: &str, log: &'a mut ProblemLog) -> Self {
        Self {
            file: printable(file).into(),
            log,
        }
    }

    /// Line 0 is the file as a whole.
    pub(super) fn place(&self, line: usize) -> SuitePlace {
        SuitePlace {
            file: Arc::clone(&self.file),
            line: (line > 0).then_some(line),
        }
    }

    /// Line 0 is the file as a whole.
    pub(super) fn add(&mut self, line: usize, problem: impl Into<String>) {
        self.log.add(&self.place(line), problem);
    }

    /// Adds a problem with a line, and returns that there is no value.
    pub(super) fn refuse<T>(&mut self, line: usize, problem: impl Into<String>) -> Option<T> {
        self.add(line, problem);
        None
    }

    /// Adds that a value is not what it must be, and returns that there is none.
    pub(super) fn wrong<T>(&mut self, name: &str, node: &Node, expected: &str) -> Option<T> {
        let kind = node.kind();
        self.refuse(
            node.line,
            format!("{name} is {kind}, but must be {expected}"),
        )
    }

    /// Reports keys that are none of these names.
    pub(super) fn check_keys(&mut self, of: &str, map: &NodeMap, known: &str) {
        for (key, member) in map {
            if !known.split(' ').any(|known| known == key) {
                let meant = did_you_mean(key, known.split(' '));
                self.add(member.line, format!("{of} has no key `{key}`{meant}"));
            }
        }
    }

    pub(super) fn note(&mut self, note: &str) {
        let note = printable(&format!("{}: {note}", self.file));
        self.log.notes.insert(note);
    }

    /// Adds the name of a shape.
    pub(super) fn recognise(&mut self, shape: &str) {
        if !shape.is_empty() {
            self.log.shapes.insert(shape.to_owned());
        }
    }

    /// In all files.
    pub(super) fn problems(&self) -> usize {
        self.log.problems.len()
    }

    pub(super) fn of_file<'b>(&'b mut self, file: &str) -> FileLog<'b> {
        FileLog::new(file, self.log)
    }
}

/// The reason why a suite cannot be used.
#[derive(Debug, Error)]
pub enum SuiteError {
    #[error("cannot read the suite `{path}`")]
    Unreadable {
        path: String,
        #[source]
        source: io::Error,
    },
    /// These problems, in the order of the suite; [`SuiteError::problems`] has them to print.
    #[error("the suite `{path}` has {}; nothing was asked", count(.problems.len(), "problem"))]
    Invalid {
        path: String,
        problems: Vec<SuiteProblem>,
    },
}

impl SuiteError {
    /// The most problems that [`SuiteError::lines`] lists.
    const MAX_LISTED: usize = 20;

    pub fn problems(&self) -> &[SuiteProblem] {
        match self {
            Self::Unreadable { .. } => &[],
            Self::Invalid { problems, .. } => problems,
        }
    }

    /// Returns a line for each of the first problems, and one for the number of the others.
    pub fn lines(&self) -> Vec<String> {
        let problems = self.problems();
        let listed = problems.iter().take(Self::MAX_LISTED);
        let mut lines: Vec<String> = listed.map(ToString::to_string).collect();
        let rest = problems.len().saturating_sub(Self::MAX_LISTED);
        if rest > 0 {
            lines.push(format!("and {rest} more"));
        }
        lines
    }
}

/// A place in a suite.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SuitePlace {
    /// The file's path, safe to print.
    pub file: Arc<str>,
    /// The first is 1; `None` for the file as a whole.
    pub line: Option<usize>,
}

impl fmt::Display for SuitePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[error("{place}: {problem}")]
pub struct SuiteProblem {
    pub place: SuitePlace,
    pub problem: String,
}

/// Returns a text without characters that act on a terminal or begin a line.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
