//! Reads and edits a document by its bytes: front matter, the three sections, their items and tags.
//!
//! ```text
//! text ─► outline (blocks and list entries) ─► sections ─► items
//!                                                  └─► DocumentEditor ─► new text
//! ```
//!
//! Markdown is read as the common sites for code show it. What is not a list entry at the top level
//! of a section is not understood, and never changed.

pub(super) mod words;
pub mod item;
mod lines;
mod marker;
mod shape;
mod outline;
mod sections;
mod escape;
pub mod editor;

use crate::refinement::mask::TextMask;
use crate::stopping::convergence::{DocumentMeasure, ItemCounts, QuestionKey};

pub use self::editor::DocumentEditor;
pub use self::item::{SectionKind, SpecItem, Tag};
pub use self::marker::without_marker;
use self::outline::{BlockContent, TopBlock};
pub use self::sections::note_texts;
use self::sections::{Sections, read_sections};
use super::front_matter::entry::fingerprint;
use super::front_matter::{self, ConvergenceEntry, FrontMatter, FrontMatterError};

/// A document that is worked on.
#[derive(Debug)]
pub struct SpecDocument {
    text: String,
    front_matter: Option<FrontMatter>,
    /// Where the Markdown begins: after the byte order mark and the front matter.
    body: usize,
    blocks: Vec<TopBlock>,
    sections: Sections,
    mask: TextMask,
    has_secrets: bool,
}

impl SpecDocument {
    /// The text is Markdown, with or without front matter and a byte order mark.
    pub fn parse(text: &str) -> Result<Self, FrontMatterError> {
        Self::parse_masked(text, TextMask::default())
    }

    /// Reads another text, whose secrets the same mask hides.
    pub fn with_text(&self, text: &str) -> Result<Self, FrontMatterError> {
        Self::parse_masked(text, self.mask.clone())
    }

    /// Reads a text whose items are found by their masked words.
    pub fn parse_masked(text: &str, mask: TextMask) -> Result<Self, FrontMatterError> {
        let front_matter = front_matter::read(text)?;
        let end = front_matter.as_ref().map(|matter| matter.range.end);
        let body = end.unwrap_or_else(|| front_matter::beginning(text));
        let blocks = outline::outline(text, body);
        let mut sections = read_sections(text, &blocks);
        let items = sections.items.values().flatten();
        let mut words: Vec<String> = items.map(|item| item.text.clone()).collect();
        let mut masked = text.to_owned();
        mask.apply(words.iter_mut().chain([&mut masked]));
        for (item, words) in sections.items.values_mut().flatten().zip(&words) {
            if item.text != *words {
                item.key = QuestionKey::of(words);
            }
        }
        Ok(Self {
            text: text.to_owned(),
            front_matter,
            body,
            blocks,
            sections,
            has_secrets: masked != text,
            mask,
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the document shows to be a secret is a secret in the texts.
    pub fn mask(&self, texts: Vec<&mut String>) {
        if self.has_secrets {
            let mut text = self.text.clone();
            self.mask.apply(texts.into_iter().chain([&mut text]));
        }
    }

    /// Returns the fingerprint of the open questions, as they stand.
    pub fn fingerprint(&self) -> String {
        let open = self.items(SectionKind::Open).iter();
        fingerprint(&open.map(|item| QuestionKey::of(&item.text)).collect())
    }

    /// The items of all headings of this kind.
    pub fn items(&self, section: SectionKind) -> &[SpecItem] {
        let items = self.sections.items.get(&section);
        items.map_or(&[], Vec::as_slice)
    }

    pub fn with_key(&self, section: SectionKind, key: &QuestionKey) -> Vec<&SpecItem> {
        let items = self.items(section).iter();
        items.filter(|item| item.key == *key).collect()
    }

    /// Of the open questions first, then of the claims.
    #[cfg(test)]
    pub fn find(&self, key: &QuestionKey) -> Option<&SpecItem> {
        SectionKind::ALL
            .into_iter()
            .rev()
            .flat_map(|section| self.items(section))
            .find(|item| item.key == *key)
    }

    pub fn headings(&self) -> impl Iterator<Item = &str> {
        let is_heading = |block: &&TopBlock| matches!(block.content, BlockContent::Heading { .. });
        let headings = self.blocks.iter().filter(is_heading);
        headings.filter_map(|block| self.text.get(block.range.clone()))
    }

    /// Headings that only mean the same, as `Open issues`, must have an item.
    pub fn has_sections(&self) -> bool {
        let has_items = self.sections.items.values().any(|items| !items.is_empty());
        self.sections.has_own_name || has_items
    }

    /// Returns the lines, from 1, at which paragraphs among the open questions begin that ask a
    /// question. They are no items.
    pub fn unlisted_questions(&self) -> impl Iterator<Item = usize> {
        let starts = self.sections.unlisted_questions.iter();
        starts.map(|start| self.line(*start))
    }

    /// Returns the headings that name no section and have several questions in lists below them:
    /// their lines, from 1, their words, and the number of questions.
    pub fn unread_questions(&self) -> impl Iterator<Item = (usize, &str, usize)> {
        let unread = self.sections.unread_questions.iter();
        let unread = unread.filter(|(_, count)| **count > 1);
        unread.map(|((start, heading), count)| (self.line(*start), heading.as_str(), *count))
    }

    fn line(&self, at: usize) -> usize {
        1 + lines::lines(self.text.get(..at).unwrap_or_default()).count()
    }

    pub fn front_matter(&self) -> Option<&ConvergenceEntry> {
        self.front_matter.as_ref()?.entry.as_ref()
    }

    /// Returns the counts that convergence is measured by, as far as the document has them.
    pub fn measure(&self) -> DocumentMeasure {
        let count = |section| self.items(section).len() as u64;
        let open = self.items(SectionKind::Open);
        let tagged = |tag| open.iter().filter(|item| item.has(tag)).count() as u64;
        let high = self.items(SectionKind::High);
        DocumentMeasure {
            counts: self.has_sections().then(|| ItemCounts {
                high: count(SectionKind::High),
                sourced_high: high.iter().filter(|item| item.has_source).count() as u64,
                medium: count(SectionKind::Medium),
                open: count(SectionKind::Open),
            }),
            questions: open.iter().map(|item| item.key.clone()).collect(),
            open_blockers: tagged(Tag::Blocker),
            deferred: tagged(Tag::Deferred),
            unanswered: 0,
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod properties;
