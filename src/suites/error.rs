//! The errors of suites: all problems of one, each with its place.

use std::fmt;
use std::io;
use std::sync::Arc;

use thiserror::Error;

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
    #[error("the suite `{path}` has {}; nothing was asked", count(.problems.len()))]
    Invalid {
        path: String,
        problems: Vec<SuiteProblem>,
    },
}

impl SuiteError {
    /// The most problems that [`SuiteError::lines`] lists.
    const MOST_LISTED: usize = 20;

    /// Returns all problems.
    pub fn problems(&self) -> &[SuiteProblem] {
        match self {
            Self::Unreadable { .. } => &[],
            Self::Invalid { problems, .. } => problems,
        }
    }

    /// Returns a line for each of the first problems, and one for the number of the others.
    pub fn lines(&self) -> Vec<String> {
        let problems = self.problems();
        let listed = problems.iter().take(Self::MOST_LISTED);
        let mut lines: Vec<String> = listed.map(ToString::to_string).collect();
        let rest = problems.len().saturating_sub(Self::MOST_LISTED);
        if rest > 0 {
            lines.push(format!("and {rest} more"));
        }
        lines
    }
}

fn count(problems: usize) -> String {
    match problems {
        1 => "a problem".to_owned(),
        many => format!("{many} problems"),
    }
}

/// A place in a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's path, safe to print.
    pub file: Arc<str>,
    /// The first is 1; `None` for the file as a whole.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteProblem {
    pub place: Place,
    pub problem: String,
}

impl fmt::Display for SuiteProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

/// The problems and notes of a suite while it is read.
#[derive(Debug, Default)]
pub(super) struct ProblemLog {
    pub(super) problems: Vec<SuiteProblem>,
    /// What a person may want to know of a suite that can be used; each once.
    pub(super) notes: Vec<String>,
}

impl ProblemLog {
    /// Adds a problem.
    pub(super) fn add(&mut self, place: &Place, problem: impl Into<String>) {
        self.problems.push(SuiteProblem {
            place: place.clone(),
            problem: printable(&problem.into()),
        });
    }

    pub(super) fn note(&mut self, note: String) {
        let note = printable(&note);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Returns a text without characters that act on a terminal or begin a line.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
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

    pub(super) fn place(&self, line: usize) -> Place {
        Place {
            file: Arc::clone(&self.file),
            line: Some(line),
        }
    }

    /// Adds a problem with a line.
    pub(super) fn add(&mut self, line: usize, problem: impl Into<String>) {
        self.log.add(&self.place(line), problem);
    }

    /// Adds a problem with the file as a whole.
    pub(super) fn add_whole(&mut self, problem: impl Into<String>) {
        let place = Place {
            file: Arc::clone(&self.file),
            line: None,
        };
        self.log.add(&place, problem);
    }

    pub(super) fn note(&mut self, note: String) {
        self.log.note(format!("{}: {note}", self.file));
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
