//! The problems found while reading, collected in the order of the answer's fields.

use super::problem::{Problem, ProblemSeverity};

/// The problem of an answer that stops in the middle.
const CUT_OFF: &str = "the answer is cut off before its end";

/// The problem of an answer that declines to answer.
const REFUSAL: &str = "the answer reads like a refusal";

/// The most unknown fields listed by name.
const LISTED: usize = 8;

impl Problem {
    /// Returns a problem of the whole answer that makes it unusable.
    pub(super) fn fatal(what: impl Into<String>) -> Self {
        Self::new(ProblemSeverity::Error, "", what)
    }

    pub fn cut_off() -> Self {
        Self::fatal(CUT_OFF)
    }

    /// A higher token limit helps, but showing it to the model does not.
    pub fn is_cut_off(&self) -> bool {
        self.severity == ProblemSeverity::Error && self.what == CUT_OFF
    }

    pub fn refusal() -> Self {
        Self::fatal(REFUSAL)
    }

    /// A refusal has no content to save.
    pub fn is_refusal(&self) -> bool {
        self.severity == ProblemSeverity::Error && self.what == REFUSAL
    }
}

/// A list of problems.
#[derive(Debug, Default)]
pub(super) struct Notes {
    problems: Vec<Problem>,
    extra: Vec<String>,
    control_characters: bool,
}

impl Notes {
    pub(super) fn repaired(&mut self, field: impl Into<String>, what: impl Into<String>) {
        self.problems
            .push(Problem::new(ProblemSeverity::Repaired, field, what));
    }

    pub(super) fn flagged(&mut self, field: impl Into<String>, what: impl Into<String>) {
        self.problems
            .push(Problem::new(ProblemSeverity::Warning, field, what));
    }

    pub(super) fn fatal(&mut self, field: impl Into<String>, what: impl Into<String>) {
        self.problems
            .push(Problem::new(ProblemSeverity::Error, field, what));
    }

    pub(super) fn extra(&mut self, field: String) {
        self.extra.push(field);
    }

    /// Returns a text without control characters and without the white space around it. Notes
    /// control characters that it removes.
    pub(super) fn clean(&mut self, text: &str) -> String {
        let text = text.trim();
        let unwanted = |c: char| c.is_control() && c != '\n' && c != '\t';
        if !text.contains(unwanted) {
            return text.to_owned();
        }
        let text = text.replace("\r\n", "\n");
        self.control_characters |= text.contains(unwanted);
        text.replace(unwanted, "").trim().to_owned()
    }

    pub(super) fn into_problems(mut self) -> Vec<Problem> {
        if self.control_characters {
            self.repaired("", "control characters were removed");
        }
        if !self.extra.is_empty() {
            let names: Vec<String> = self
                .extra
                .iter()
                .take(LISTED)
                .map(|name| format!("`{name}`"))
                .collect();
            let more = if self.extra.len() > LISTED {
                " and more"
            } else {
                ""
            };
            let names = names.join(", ");
            let what = format!("fields beyond the schema were left out: {names}{more}");
            self.repaired("", what);
        }
        self.problems
    }
}
