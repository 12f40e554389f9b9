//! One list item: its checkbox, its text and its tags; and the labels that make items optional.

use crate::agent_loop::text::TABLES;
use crate::text::clean::lower_words;
use crate::text::pattern::Pattern;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemState {
    Completed,
    Open,
    Cancelled,
}

#[derive(Debug, Default)]
pub(super) struct TaskItem {
    /// `None` without a checkbox.
    pub(super) checkbox: Option<ItemState>,
    /// The text up to the first paragraph, list or code below it.
    pub(super) text: String,
    pub(super) text_ended: bool,
    /// The text begins struck through.
    pub(super) is_struck: bool,
    pub(super) in_optional: bool,
    pub(super) in_cancelled: bool,
}

impl TaskItem {
    pub(super) fn push(&mut self, text: &str, struck: bool) {
        if self.text_ended {
            return;
        }
        if struck && without_checkbox(&self.text).trim().is_empty() {
            self.is_struck = true;
        }
        self.text.push_str(text);
    }

    /// What looked like a checkbox is code if the item begins with code.
    pub(super) fn begin_code(&mut self) {
        if self.text.is_empty() {
            self.checkbox = None;
        }
        self.text_ended = true;
    }

    /// An item without a text is a blank of a form.
    pub(super) fn state(&self) -> Option<ItemState> {
        let state = self.checkbox?;
        if !without_checkbox(&self.text).contains(char::is_alphanumeric) {
            return None;
        }
        let is_cancelled = self.is_struck || self.in_cancelled;
        if state == ItemState::Open && is_cancelled {
            return Some(ItemState::Cancelled);
        }
        Some(state)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.in_cancelled
            || self.checkbox == Some(ItemState::Cancelled)
            || self.checkbox == Some(ItemState::Open) && self.is_struck
    }

    /// The texts between brackets, and the one before a colon.
    fn tags(&self) -> impl Iterator<Item = &str> {
        let text = without_checkbox(&self.text);
        bracketed(text).chain(text.split_once(':').map(|(label, _)| label))
    }

    pub(super) fn is_optional(&self) -> bool {
        self.in_optional
            || self.tags().any(is_optional_label)
            || self.checkbox.is_none() && is_optional_label(without_checkbox(&self.text))
    }

    pub(super) fn is_blocker(&self) -> bool {
        const TAGS: [&str; 3] = ["blocker", "blocking", "critical blocker"];
        let is_tag = |tag: &str| {
            TAGS.iter()
                .any(|known| known.eq_ignore_ascii_case(tag.trim()))
        };
        self.text.contains('🚫') || self.tags().any(is_tag)
    }

    /// In lower case, so that a change of layout or punctuation is not another item.
    pub(super) fn normal_text(&self) -> String {
        lower_words(without_checkbox(&self.text))
    }
}

/// A checkbox after the bullet or the number of an item; `[x](address)` and `[x]: address` are
/// links.
static CHECKBOX: Pattern = Pattern::new(r"^\s*[0-9]*[-*+.)]\s*(?:([☐☑☒])|\[(.)\])(?:\s|$)");

pub(super) fn checkbox(source: &str) -> Option<ItemState> {
    let found = CHECKBOX.all(source).next()?;
    match found.get(1).or(found.get(2))?.as_str() {
        "☐" | " " | "\t" => Some(ItemState::Open),
        "☑" | "☒" | "x" | "X" | "✓" | "✔" | "✅" => Some(ItemState::Completed),
        "-" | "~" => Some(ItemState::Cancelled),
        // Marks of other programs, such as begun, postponed or important: all of it is open.
        "/" | ">" | "<" | "!" | "?" | "." => Some(ItemState::Open),
        _ => None,
    }
}

fn without_checkbox(text: &str) -> &str {
    let text = text.trim_start();
    let mut letters = text.chars();
    match letters.next() {
        Some('☐' | '☑' | '☒') => letters.as_str(),
        Some('[') if letters.nth(1) == Some(']') => letters.as_str(),
        _ => text,
    }
}

fn bracketed(text: &str) -> impl Iterator<Item = &str> {
    text.split(['(', '[', '{']).skip(1).filter_map(|rest| {
        let (inside, _) = rest.split_once([')', ']', '}'])?;
        Some(inside)
    })
}

/// A part of a label in lower case, with one blank between its words: `phase 5`, `nice to have
/// items`.
static OPTIONAL: Pattern = Pattern::prepared("", |_| {
    let numbering = TABLES.list("numbering").join("|");
    let optional = TABLES.list("optional_labels").join("|");
    let after = TABLES.list("after_optional").join("|");
    format!(r"^(?:(?:[0-9]+|{numbering}) )*(?:{optional})(?: (?:{optional}|{after}))*$")
});

/// `Phase 5: Nice to have`.
pub(in crate::agent_loop) fn is_optional_label(label: &str) -> bool {
    let mut parts = label
        .split(" - ")
        .flat_map(|part| part.split([':', ';', ',', '–', '—', '(', ')', '[', ']', '/', '|']));
    parts.any(|part| OPTIONAL.is_in(&lower_words(part)))
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
        let headings = &mut self.headings;
        while headings.pop_if(|(above, _)| *above >= level).is_some() {}
        // A file may be a backlog as a whole: its title makes nothing optional.
        let is_title = level == 1 && !self.has_heading;
        self.headings
            .push((level, !is_title && is_optional_label(heading)));
        self.has_heading = true;
        self.label_is_optional = false;
    }

    /// A label ends with a colon or is bold as a whole.
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
