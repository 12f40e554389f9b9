//! Labels of sections and tags of items that make them optional.

use crate::agent_loop::text::tables::TABLES;
use crate::text::pattern::Pattern;

/// A part of a label in lower case, with one blank between its words: `phase 5`, `nice to have items`.
static OPTIONAL: Pattern = Pattern::prepared("", |_| {
    let numbering = TABLES.numbering.join("|");
    let optional = TABLES.optional_labels.join("|");
    let after = TABLES.after_optional.join("|");
    format!(r"^(?:(?:[0-9]+|{numbering}) )*(?:{optional})(?: (?:{optional}|{after}))*$")
});

/// Returns whether a label says that what it stands over is optional: `Phase 5: Nice to have`.
pub(in crate::agent_loop) fn is_optional_label(label: &str) -> bool {
    let mut parts = label
        .split(" - ")
        .flat_map(|part| part.split([':', ';', ',', '–', '—', '(', ')', '[', ']', '/', '|']));
    parts.any(|part| {
        let words = part.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        OPTIONAL.is_in(&words.join(" ").to_lowercase())
    })
}

/// The headings above the current place, and the last label that is not a heading.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// Levels, and whether the section is optional, outermost first.
    headings: Vec<(u8, bool)>,
    has_heading: bool,
    label_is_optional: bool,
}

impl Sections {
    pub(super) fn enter(&mut self, level: u8, heading: &str) {
        while self
            .headings
            .last()
            .is_some_and(|(above, _)| *above >= level)
        {
            self.headings.pop();
        }
        // A file may be a backlog as a whole: its title makes nothing optional.
        let is_title = level == 1 && !self.has_heading;
        self.headings
            .push((level, !is_title && is_optional_label(heading)));
        self.has_heading = true;
        self.label_is_optional = false;
    }

    /// Notes a paragraph that is a label: it ends with a colon or is bold as a whole.
    pub(super) fn note_label(&mut self, text: &str, source: &str) {
        let text = text.trim();
        let source = source.trim();
        let is_bold = source.starts_with("**") && source.trim_end_matches(':').ends_with("**");
        if text.ends_with(':') || is_bold {
            self.label_is_optional = is_optional_label(text);
        }
    }

    pub(super) fn is_optional(&self) -> bool {
        self.label_is_optional || self.headings.iter().any(|(_, optional)| *optional)
    }
}
