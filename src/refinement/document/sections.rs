//! The sections of a document: their headings, how far they reach, and their items.

use std::collections::BTreeMap;

use pulldown_cmark::HeadingLevel;

use crate::refinement::words::TABLES;
use crate::stopping::convergence::QuestionKey;

use super::heading::{HeadingMeaning, meaning};
use super::item::{SectionKind, SpecItem};
use super::lines::{end_without_blank_lines, is_blank, lines, without_columns};
use super::outline::{BlockContent, ListEntry, TopBlock};
use super::shape::paragraph;
use super::source::names_source;
use super::tags::placed_tags;

/// The sections of a document.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub(super) title: Option<String>,
    pub(super) items: BTreeMap<SectionKind, Vec<SpecItem>>,
    /// In the order of the document.
    pub(super) headings: Vec<SectionHeading>,
    /// Where paragraphs among the open questions begin that ask a question.
    pub(super) unlisted_questions: Vec<usize>,
}

/// The heading of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SectionHeading {
    pub(super) kind: SectionKind,
    pub(super) level: HeadingLevel,
    /// The index of its block.
    pub(super) block: usize,
    /// The index after its last block before a heading below it.
    pub(super) own_end: usize,
    /// The index after its last block, those of headings below it included.
    pub(super) end: usize,
}

const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];

impl Sections {
    pub(super) fn has_any(&self) -> bool {
        !self.headings.is_empty()
    }

    /// Returns the first section of a kind.
    pub(super) fn first(&self, kind: SectionKind) -> Option<&SectionHeading> {
        self.headings.iter().find(|heading| heading.kind == kind)
    }
}

/// Reads the sections of a document from its blocks.
pub(super) fn read_sections(text: &str, blocks: &[TopBlock]) -> Sections {
    let mut sections = Sections::default();
    // The headings that the current block stands below, with their sections.
    let mut scopes: Vec<(HeadingLevel, Option<SectionKind>)> = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let section = scopes.last().and_then(|(_, section)| *section);
        match &block.content {
            BlockContent::Heading { level, words, .. } => {
                while scopes.pop_if(|(outer, _)| *outer >= *level).is_some() {}
                let outer = scopes.last().and_then(|(_, section)| *section);
                let section = match meaning(words) {
                    HeadingMeaning::Section(kind) => {
                        sections.headings.push(SectionHeading {
                            kind,
                            level: *level,
                            block: index,
                            own_end: next_heading(blocks, index, HeadingLevel::H6),
                            end: next_heading(blocks, index, *level),
                        });
                        Some(kind)
                    }
                    HeadingMeaning::Over => None,
                    HeadingMeaning::Other => {
                        if *level == HeadingLevel::H1 && sections.title.is_none() {
                            let words = words.split_whitespace().collect::<Vec<_>>();
                            sections.title = Some(words.join(" "));
                        }
                        outer
                    }
                };
                scopes.push((*level, section));
            }
            BlockContent::List(entries) => {
                if let Some(section) = section {
                    let read = entries.iter();
                    let read = read.filter_map(|entry| item_of(text, section, entry));
                    sections.items.entry(section).or_default().extend(read);
                }
            }
            BlockContent::Other { shape } => {
                if section == Some(SectionKind::Open) && asks_question(shape) {
                    sections.unlisted_questions.push(block.range.start);
                }
            }
        }
    }
    sections
}

/// Returns the index of the next heading of this level or above it, or after the last block.
fn next_heading(blocks: &[TopBlock], index: usize, lowest: HeadingLevel) -> usize {
    let mut later = blocks.iter().enumerate().skip(index + 1);
    let next = later.find(|(_, block)| {
        matches!(block.content, BlockContent::Heading { level, .. } if level <= lowest)
    });
    next.map_or(blocks.len(), |(at, _)| at)
}

/// Returns whether a block is a paragraph with a question mark after a word, or with a tag.
fn asks_question(shape: &str) -> bool {
    let Some(text) = paragraph(shape) else {
        return false;
    };
    let mut words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let is_question = |word: &str| {
        let word =
            word.trim_end_matches(|c: char| !c.is_alphanumeric() && !QUESTION_MARKS.contains(&c));
        word.ends_with(QUESTION_MARKS)
    };
    words.any(is_question) || !placed_tags(text).is_empty()
}

/// Returns the item of a list entry; `None` if it has no words, or says that there is nothing.
pub(super) fn item_of(text: &str, section: SectionKind, entry: &ListEntry) -> Option<SpecItem> {
    let key = QuestionKey::of(&entry.text.words);
    if key.as_str().is_empty() || TABLES.placeholders.has(key.as_str()) {
        return None;
    }
    let source = text.get(entry.range.clone()).unwrap_or_default();
    Some(SpecItem {
        section,
        range: entry.range.clone(),
        text: entry.text.words.clone(),
        notes: notes(text, entry),
        tags: entry.text.tags.iter().map(|placed| placed.tag).collect(),
        has_source: entry.text.has_reference || names_source(source),
        key,
    })
}

/// Returns what follows the first text of an entry, without its indentation.
fn notes(text: &str, entry: &ListEntry) -> String {
    let start = end_without_blank_lines(text, entry.range.start, entry.text.end);
    let source = text.get(start..entry.range.end).unwrap_or_default();
    let mut notes = String::with_capacity(source.len());
    for line in lines(source) {
        let inner = without_columns(line, 0, entry.marker.content_column);
        if is_blank(line) {
            notes.push('\n');
        } else {
            notes.push_str(inner.as_deref().unwrap_or(line));
        }
    }
    notes.trim_matches(['\n', '\r']).trim_end().to_owned()
}
