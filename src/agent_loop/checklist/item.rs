//! One list item: its checkbox, its text and its tags.

use super::label::is_optional_label;

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

    pub(super) fn is_optional(&self) -> bool {
        let text = without_checkbox(&self.text);
        self.in_optional
            || bracketed(text).any(is_optional_label)
            || text
                .split_once(':')
                .is_some_and(|(label, _)| is_optional_label(label))
            || self.checkbox.is_none() && is_optional_label(text)
    }

    pub(super) fn is_blocker(&self) -> bool {
        let text = without_checkbox(&self.text);
        let is_tag = |tag: &str| {
            let tag = tag.trim().to_ascii_lowercase();
            matches!(tag.as_str(), "blocker" | "blocking" | "critical blocker")
        };
        text.contains('🚫')
            || bracketed(text).any(is_tag)
            || text.split_once(':').is_some_and(|(label, _)| is_tag(label))
    }

    /// Returns the words of the text in lower case, so that a change of layout or punctuation is
    /// not another item.
    pub(super) fn normal_text(&self) -> String {
        let mut normal = String::with_capacity(self.text.len());
        let words = without_checkbox(&self.text).split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            if !normal.is_empty() {
                normal.push(' ');
            }
            normal.extend(word.chars().flat_map(char::to_lowercase));
        }
        normal
    }
}

/// Reads the checkbox after the bullet or the number of an item.
fn checkbox(source: &str) -> Option<ItemState> {
    let content = source
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    let content = content.strip_prefix(['-', '*', '+', '.', ')'])?;
    let mut letters = content.trim_start().chars();
    let state = match letters.next()? {
        '☐' => ItemState::Open,
        '☑' | '☒' => ItemState::Completed,
        '[' => {
            let state = match letters.next()? {
                ' ' | '\t' => ItemState::Open,
                'x' | 'X' | '✓' | '✔' | '✅' => ItemState::Completed,
                '-' | '~' => ItemState::Cancelled,
                // Marks of other programs, such as begun, postponed or important: all of it is open.
                '/' | '>' | '<' | '!' | '?' | '.' => ItemState::Open,
                _ => return None,
            };
            if letters.next()? != ']' {
                return None;
            }
            state
        }
        _ => return None,
    };
    // `[x](address)` and `[x]: address` are links.
    letters
        .next()
        .is_none_or(char::is_whitespace)
        .then_some(state)
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
