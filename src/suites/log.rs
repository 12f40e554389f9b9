//! The problems of a suite, each with its place, and their log while its files are read.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::{fmt, io};

use indexmap::IndexSet;
use thiserror::Error;

use super::case_file::{CaseFile, printable};
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
    pub(super) fn add(&mut self, place: SuitePlace, problem: impl Into<String>) {
        let problem = printable(&problem.into());
        self.problems.push(SuiteProblem { place, problem });
    }
}

/// A file that is being read, and the log of its problems, which all files of a suite share.
#[derive(Clone, Debug)]
pub(super) struct FileLog {
    pub(super) file: CaseFile,
    log: Rc<RefCell<ProblemLog>>,
}

impl FileLog {
    pub(super) fn new(file: CaseFile) -> Self {
        let log = Rc::default();
        Self { file, log }
    }

    pub(super) fn of(&self, file: CaseFile) -> Self {
        let log = Rc::clone(&self.log);
        Self { file, log }
    }

    pub(super) fn take(&self) -> ProblemLog {
        self.log.take()
    }

    /// Line 0 is the file as a whole.
    pub(super) fn place(&self, line: usize) -> SuitePlace {
        SuitePlace {
            file: Arc::clone(&self.file.shown),
            line: (line > 0).then_some(line),
        }
    }

    /// Line 0 is the file as a whole.
    pub(super) fn add(&self, line: usize, problem: impl Into<String>) {
        self.log.borrow_mut().add(self.place(line), problem);
    }

    /// Adds a problem with a line, and returns nothing: no value, no list, or false.
    pub(super) fn refuse<T: Default>(&self, line: usize, problem: impl Into<String>) -> T {
        self.add(line, problem);
        T::default()
    }

    /// Adds that a value is not what it must be, and returns nothing.
    pub(super) fn wrong<T: Default>(&self, name: &str, node: &Node, expected: &str) -> T {
        let problem = format!("{name} is {}, but must be {expected}", node.kind());
        self.refuse(node.line, problem)
    }

    /// Reports keys that are none of these names.
    pub(super) fn check_keys(&self, of: &str, map: &NodeMap, known: &str) {
        for (key, member) in map {
            if !known.split(' ').any(|known| known == key) {
                let meant = did_you_mean(key, known.split(' '));
                self.add(member.line, format!("{of} has no key `{key}`{meant}"));
            }
        }
    }

    pub(super) fn note(&self, note: &str) {
        let note = printable(&format!("{}: {note}", self.file.shown));
        self.log.borrow_mut().notes.insert(note);
    }

    /// Adds the name of a shape.
    pub(super) fn recognise(&self, shape: &str) {
        if !shape.is_empty() {
            self.log.borrow_mut().shapes.insert(shape.to_owned());
        }
    }

    /// In all files.
    pub(super) fn problems(&self) -> usize {
        self.log.borrow().problems.len()
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
    /// These problems, in the order of the suite; [`SuiteError::lines`] has them to print.
    #[error("the suite `{path}` has {}; nothing was asked", count(.problems.len(), "problem"))]
    Invalid {
        path: String,
        problems: Vec<SuiteProblem>,
    },
}

impl SuiteError {
    /// The most problems that [`SuiteError::lines`] lists.
    const MAX_LISTED: usize = 20;

    /// Returns a line for each of the first problems, and one for the number of the others.
    pub fn lines(&self) -> Vec<String> {
        let Self::Invalid { problems, .. } = self else {
            return Vec::new();
        };
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
