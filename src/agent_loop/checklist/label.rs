//! Labels of sections and tags of items that make them optional.

use crate::agent_loop::text::tables::tables;

/// Words that make what they stand over optional, as the beginning of a label.
const OPTIONAL: [&[&str]; 19] = [
    &["optional"],
    &["optionally"],
    &["nice", "to", "have"],
    &["nice", "to", "haves"],
    &["future"],
    &["out", "of", "scope"],
    &["not", "in", "scope"],
    &["backlog"],
    &["later"],
    &["stretch"],
    &["wishlist"],
    &["wish", "list"],
    &["icebox"],
    &["someday"],
    &["deferred"],
    &["bonus"],
    &["if", "time", "permits"],
    &["won", "t", "have"],
    &["not", "required"],
];

/// Words that number a section.
const NUMBERING: [&str; 8] = [
    "phase",
    "section",
    "part",
    "stage",
    "milestone",
    "priority",
    "tier",
    "step",
];

/// Returns whether a label says that what it stands over is optional: `Phase 5: Nice to have`.
pub(in crate::agent_loop) fn is_optional_label(label: &str) -> bool {
    let dashes = label.split(" - ");
    dashes
        .flat_map(|part| part.split([':', ';', ',', '–', '—', '(', ')', '[', ']', '/', '|']))
        .any(is_optional_part)
}

fn is_optional_part(part: &str) -> bool {
    let mut words = part
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .skip_while(|word| is_numbering(word))
        .peekable();
    // Most labels end here, without a copy.
    let begins = words.peek().is_some_and(|first| {
        let mut phrases = OPTIONAL.iter().filter_map(|phrase| phrase.first());
        phrases.any(|word| word.eq_ignore_ascii_case(first))
    });
    if !begins {
        return false;
    }
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(mut rest) = OPTIONAL
        .iter()
        .find_map(|phrase| words.strip_prefix(*phrase))
    else {
        return false;
    };
    while let [first, following @ ..] = rest {
        let another = OPTIONAL
            .iter()
            .find_map(|phrase| rest.strip_prefix(*phrase));
        rest = match another {
            Some(after) => after,
            None if tables().after_optional.has(first) => following,
            None => return false,
        };
    }
    true
}

fn is_numbering(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit())
        || NUMBERING.iter().any(|name| name.eq_ignore_ascii_case(word))
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
