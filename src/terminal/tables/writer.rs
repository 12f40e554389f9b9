//! The text of a screen as it grows: wrapped lines, and tables of figures beneath their titles.

use super::columns::{figures_table, hanging};
use crate::terminal::output::style::Paint;

pub(super) struct ScreenText {
    pub(super) text: String,
    /// `None` does not wrap.
    pub(super) width: Option<usize>,
    pub(super) paint: Paint,
}

impl ScreenText {
    /// Begins a screen for a terminal of this width. Longer lines than 100 columns are hard to
    /// read.
    pub(super) fn new(width: Option<usize>, paint: Paint) -> Self {
        Self {
            text: String::new(),
            width: width.map(|width| width.clamp(20, 100)),
            paint,
        }
    }

    /// Writes a line as it is.
    pub(super) fn line(&mut self, line: &str) {
        self.text.extend([line, "\n"]);
    }

    pub(super) fn heading(&mut self, heading: &str) {
        self.line(&self.paint.heading(heading));
    }

    /// Writes a title beneath an empty line.
    pub(super) fn title(&mut self, title: &str) {
        self.text.push('\n');
        self.line(&self.paint.cyan(title));
    }

    pub(super) fn wrapped(&mut self, text: &str) {
        self.hanging("", text, 0);
    }

    /// Writes a text behind its head, continued `indent` columns from the left.
    pub(super) fn hanging(&mut self, head: &str, text: &str, indent: usize) {
        self.text.push_str(&hanging(head, text, indent, self.width));
    }

    /// Writes an explanation.
    pub(super) fn legend(&mut self, legend: &str) {
        let legend = hanging("", legend, 0, self.width);
        self.text.push_str(&self.paint.dim(&legend));
    }

    /// Writes a table of figures beneath its title; nothing without rows.
    pub(super) fn table(&mut self, title: &str, heads: &[&str], rows: &[Vec<String>]) {
        if !rows.is_empty() {
            self.title(title);
            self.figures(heads, rows);
        }
    }

    pub(super) fn figures(&mut self, heads: &[&str], rows: &[Vec<String>]) {
        let width = self.width.unwrap_or(usize::MAX);
        self.text
            .push_str(&figures_table(heads, rows, width, self.paint));
    }
}
