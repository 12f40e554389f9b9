//! The log of a suite's problems while its files are read.

use std::sync::Arc;

use indexmap::IndexSet;

use crate::domain::names::did_you_mean;
use crate::text::node::{Node, NodeMap};

use super::error::{SuitePlace, SuiteProblem, printable};

/// The problems and notes of a suite while it is read.
#[derive(Debug, Default)]
pub(super) struct ProblemLog {
    pub(super) problems: Vec<SuiteProblem>,
    /// What a person may want to know of a suite that can be used; each once.
    pub(super) notes: IndexSet<String>,
}

impl ProblemLog {
    /// Adds a problem.
    pub(super) fn add(&mut self, place: &SuitePlace, problem: impl Into<String>) {
        self.problems.push(SuiteProblem {
            place: place.clone(),
            problem: printable(&problem.into()),
        });
    }

    pub(super) fn note(&mut self, note: &str) {
        self.notes.insert(printable(note));
    }
}

/// A file that is being read, and the log of its problems.
#[derive(Debug)]
pub(super) struct FileLog<'a> {
    file: Arc<str>,
    log: &'a mut ProblemLog,
}

impl<'a> FileLog<'a> {
    /// Takes a file's path as it is shown.
    pub(super) fn new(file: &str, log: &'a mut ProblemLog) -> Self {
        Self {
            file: printable(file).into(),
            log,
        }
    }

    /// Returns a place; line 0 is the file as a whole.
    pub(super) fn place(&self, line: usize) -> SuitePlace {
        SuitePlace {
            file: Arc::clone(&self.file),
            line: (line > 0).then_some(line),
        }
    }

    /// Adds a problem with a line.
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

    /// Reports keys that do not exist.
    pub(super) fn check_keys(&mut self, of: &str, map: &NodeMap, known: &[&str]) {
        for (key, member) in map {
            if !known.contains(&key.as_str()) {
                let meant = did_you_mean(key, known.iter().copied());
                self.add(member.line, format!("{of} has no key `{key}`{meant}"));
            }
        }
    }

    /// Adds a problem with the file as a whole.
    pub(super) fn add_whole(&mut self, problem: impl Into<String>) {
        self.add(0, problem);
    }

    pub(super) fn note(&mut self, note: &str) {
        self.log.note(&format!("{}: {note}", self.file));
    }

    /// Returns the number of problems so far, in all files.
    pub(super) fn problems(&self) -> usize {
        self.log.problems.len()
    }

    /// Returns a log for another file.
    pub(super) fn of_file<'b>(&'b mut self, file: &str) -> FileLog<'b> {
        FileLog::new(file, self.log)
    }
}
