//! One list item: its checkbox, its text and its tags.

use super::label::is_optional_label;
use crate::text::pattern::Pattern;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemState {
    Completed,
    Open,
    Cancelled,
}

#[derive(Debug)]
pub(super) struct TaskItem {
    /// `None` without a checkbox.
    checkbox: Option<ItemState>,
    /// The text up to the first paragraph, list or code below it.
    text: String,
    pub(super) text_ended: bool,
    /// The text begins struck through.
    is_struck: bool,
    in_optional: bool,
    in_cancelled: bool,
}

impl TaskItem {
    /// Begins an item with its source, from the bullet on.
    pub(super) fn begin(source: &str, in_optional: bool, in_cancelled: bool) -> Self {
        Self {
            checkbox: checkbox(source),
            text: String::new(),
            text_ended: false,
            is_struck: false,
            in_optional,
            in_cancelled,
        }
    }

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

    /// Returns what counts; an item without a text is a blank of a form.
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

    /// Returns what may be a tag: the texts between brackets, and the one before a colon.
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

    /// Returns the words of the text in lower case, so that a change of layout or punctuation is
    /// not another item.
    pub(super) fn normal_text(&self) -> String {
        let words = without_checkbox(&self.text).split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words.join(" ").to_lowercase()
    }
}

/// A checkbox after the bullet or the number of an item; `[x](address)` and `[x]: address` are links.
static CHECKBOX: Pattern = Pattern::new(r"^\s*[0-9]*[-*+.)]\s*(?:([☐☑☒])|\[(.)\])(?:\s|$)");

fn checkbox(source: &str) -> Option<ItemState> {
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

/// Returns the texts between brackets and parentheses.
fn bracketed(text: &str) -> impl Iterator<Item = &str> {
    text.split(['(', '[', '{']).skip(1).filter_map(|rest| {
        let (inside, _) = rest.split_once([')', ']', '}'])?;
        Some(inside)
    })
}
