//! Edits a document: moves items, adds notes and tags, and leaves every other byte as it is.
//!
//! The edits are collected and applied at once. Each edited item is first written where it stands,
//! then in the form of the list that it moves to; a form that would be read as something else is
//! replaced by a plainer one.

mod entry;
mod writer;

use std::collections::BTreeMap;

use super::super::front_matter;
use super::SpecDocument;
use super::escape::entry_text;
use super::item::{SectionKind, SpecItem, Tag};
use super::lines::line_ending;
use super::sections::item_of;
use entry::LooseEntry;
use writer::write;

/// Collects the edits of a document.
#[derive(Clone, Debug)]
pub struct DocumentEditor<'d> {
    document: &'d SpecDocument,
    /// By the beginning of the item.
    items: BTreeMap<usize, ItemEdit>,
    /// What is put into a section, in this order.
    arrivals: Vec<(SectionKind, Arrival)>,
    /// Adds the sections that the document lacks; else only those to which an item goes.
    pub adds_sections: bool,
}

/// The edits of one item.
#[derive(Clone, Debug, Default)]
struct ItemEdit {
    moves: bool,
    /// Whether its checkbox is ticked or unticked.
    ticks: Option<bool>,
    notes: Vec<String>,
    set: Vec<Tag>,
    cleared: Vec<Tag>,
}

/// An item that is put into a section.
#[derive(Clone, Debug)]
enum Arrival {
    /// The item that begins here.
    Moved(usize),
    /// A line of Markdown.
    Added(String),
}

impl<'d> DocumentEditor<'d> {
    pub fn new(document: &'d SpecDocument) -> Self {
        Self {
            document,
            items: BTreeMap::new(),
            arrivals: Vec::new(),
            adds_sections: false,
        }
    }

    /// Moves an item with everything nested in it to a section, and adds the note as its last
    /// sub-item. It loses the tags for new and deferred questions. A question that becomes a claim
    /// is no blocker, and its checkbox is ticked; that of a claim that becomes a question is
    /// unticked.
    pub fn move_item(&mut self, item: &SpecItem, to: SectionKind, note: &str) {
        self.clear_tag(item, Tag::New);
        self.clear_tag(item, Tag::Deferred);
        let becomes_claim = to != SectionKind::Open;
        let changes_kind = becomes_claim == (item.section == SectionKind::Open);
        if changes_kind && becomes_claim {
            self.clear_tag(item, Tag::Blocker);
        }
        self.note(item, note);
        let at = item.range.start;
        let is_elsewhere =
            |arrival: &Arrival| !matches!(arrival, Arrival::Moved(other) if *other == at);
        self.arrivals.retain(|(_, arrival)| is_elsewhere(arrival));
        let edit = self.edit(item);
        edit.moves = to != item.section;
        edit.ticks = changes_kind.then_some(becomes_claim);
        if to != item.section {
            self.arrivals.push((to, Arrival::Moved(at)));
        }
    }

    /// Adds a sub-item at the end of an item.
    pub fn note(&mut self, item: &SpecItem, note: &str) {
        let note = entry_text(note);
        if !note.is_empty() {
            self.edit(item).notes.push(note);
        }
    }

    /// Adds a tag that the item does not have.
    pub fn set_tag(&mut self, item: &SpecItem, tag: Tag) {
        let edit = self.edit(item);
        edit.cleared.retain(|cleared| *cleared != tag);
        if !item.has(tag) && !edit.set.contains(&tag) {
            edit.set.push(tag);
        }
    }

    /// Removes a tag, wherever it stands.
    pub fn clear_tag(&mut self, item: &SpecItem, tag: Tag) {
        let edit = self.edit(item);
        edit.set.retain(|set| *set != tag);
        if item.has(tag) && !edit.cleared.contains(&tag) {
            edit.cleared.push(tag);
        }
    }

    /// A text without words adds nothing.
    pub fn add_item(&mut self, section: SectionKind, text: &str, tags: &[Tag]) {
        let text = entry_text(text);
        if !is_item(section, &text) {
            return;
        }
        let mut line = String::new();
        for tag in tags {
            line.push_str(tag.written());
            line.push(' ');
        }
        line.push_str(&text);
        self.arrivals.push((section, Arrival::Added(line)));
    }

    pub fn finish(self) -> String {
        let SpecDocument {
            text,
            body,
            front_matter,
            ..
        } = self.document;
        let mut edited = write(&self);
        if !text.is_empty() && !text.ends_with(['\n', '\r']) {
            let length = edited.strip_suffix(line_ending(text)).map(str::len);
            edited.truncate(length.unwrap_or(edited.len()));
        }
        if front_matter.is_none() && !matches!(front_matter::read(&edited), Ok(None)) {
            // What is between two thematic breaks would now be front matter.
            edited.insert_str(*body, line_ending(text));
        }
        edited
    }

    fn edit(&mut self, item: &SpecItem) -> &mut ItemEdit {
        self.items.entry(item.range.start).or_default()
    }
}

fn is_item(section: SectionKind, line: &str) -> bool {
    let source = format!("- {line}\n");
    let entry = LooseEntry::read(source);
    entry.is_some_and(|entry| item_of(&entry.source, section, &entry.entry).is_some())
}

#[cfg(test)]
mod tests;
