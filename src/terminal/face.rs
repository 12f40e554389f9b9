//! The printer as the face of preparations and runs.

use crate::engine::ports::{BoxFuture, Confirmation, Face, LongWork, WorkProgress};

use super::output::printer::Printer;
use super::progress::work_bar::WorkBar;
use super::prompt::confirm;

impl Face for Printer {
    fn note(&self, line: &str) {
        self.note(line);
    }

    fn detail(&self, line: &str) {
        self.detail(line);
    }

    fn warning(&self, line: &str) {
        self.warning(line);
    }

    fn lines(&self, text: &str) {
        self.lines(text);
    }

    fn begin(&self, work: LongWork) -> Box<dyn WorkProgress> {
        Box::new(WorkBar::new(self, work))
    }

    fn confirm<'a>(&'a self, lines: Vec<String>, question: &'a str) -> BoxFuture<'a, Confirmation> {
        Box::pin(confirm(self, lines, question, 'y'))
    }
}
