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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SuiteProblem {
    pub place: SuitePlace,
    pub problem: String,
}

impl fmt::Display for SuiteProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

/// Returns a text without characters that act on a terminal or begin a line.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
