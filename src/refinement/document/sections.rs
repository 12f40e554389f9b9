//! The sections of a document: their headings, how far they reach, and their items.

use std::collections::BTreeMap;

use pulldown_cmark::HeadingLevel;

use super::item::names_source;
use super::item::{SectionKind, SpecItem, placed_tags};
use super::lines::{end_without_blank_lines, is_blank, lines, without_columns};
use super::outline::{BlockContent, ListEntry, TopBlock, outline};
use super::shape::paragraph;
use crate::refinement::document::words::TABLES;
use crate::stopping::convergence::QuestionKey;
use crate::text::clean::words;

/// The sections of a document.
#[derive(Debug, Default)]
pub(super) struct Sections {
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
    pub(super) fn first(&self, kind: SectionKind) -> Option<&SectionHeading> {
        self.headings.iter().find(|heading| heading.kind == kind)
    }
}

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
                    HeadingMeaning::Other => outer,
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

/// `None` if it has no words, or says that there is nothing.
pub(super) fn item_of(text: &str, section: SectionKind, entry: &ListEntry) -> Option<SpecItem> {
    let key = QuestionKey::of(&entry.text.words);
    if key.as_str().is_empty() || TABLES.list("placeholders").has(key.as_str()) {
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

/// Returns the words of each list entry that is nested directly in an item, without markup,
/// escapes and line breaks.
pub fn note_texts(item: &SpecItem) -> Vec<String> {
    let blocks = outline(&item.notes, 0);
    let entries = blocks.iter().flat_map(TopBlock::entries);
    entries.map(|entry| entry.text.words.clone()).collect()
}

/// What a heading says about the list entries below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadingMeaning {
    /// They are items of this section.
    Section(SectionKind),
    /// They are not worked on.
    Over,
    /// They belong to the section that the heading stands in.
    Other,
}

pub(super) fn meaning(heading: &str) -> HeadingMeaning {
    if words(&heading.to_lowercase()).any(|word| TABLES.list("over").has(word)) {
        return HeadingMeaning::Over;
    }
    let name = without_prefix(heading);
    let end = name.find(['(', '[', '{', ':', '：', '（', '—', '–', '|']);
    let name = name.get(..end.unwrap_or(name.len())).unwrap_or(name);
    let name = name.split(" - ").next().unwrap_or(name);
    section_named(&words(&name.to_lowercase()).collect::<Vec<_>>())
        .map_or(HeadingMeaning::Other, HeadingMeaning::Section)
}

fn without_prefix(heading: &str) -> &str {
    let mut name = heading;
    loop {
        name = name.trim_start_matches(|c: char| !c.is_alphabetic());
        let end = name.find(|c: char| !c.is_alphanumeric());
        let Some((word, rest)) = end.and_then(|end| name.split_at_checked(end)) else {
            return name;
        };
        let is_letter = word.chars().count() == 1;
        if !is_letter
            && !TABLES
                .list("before_heading")
                .has(word.to_lowercase().as_str())
        {
            return name;
        }
        name = rest;
    }
}

fn section_named(words: &[&str]) -> Option<SectionKind> {
    let (name, after) = words.split_at_checked(2)?;
    let [first, second] = name else { return None };
    let kind = match (*first, *second) {
        ("high", "confidence") => SectionKind::High,
        ("medium", "confidence") => SectionKind::Medium,
        ("open", "question" | "questions") => SectionKind::Open,
        _ => return None,
    };
    let is_number = |word: &str| word.chars().all(char::is_numeric) || word.chars().count() == 1;
    after
        .iter()
        .copied()
        .take_while(|word| !TABLES.list("remarks").has(word))
        .all(|word| is_number(word) || TABLES.list("after_heading").has(word))
        .then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_headings_match_by_their_words() {
        for heading in [
            "Open Questions",
            "open questions:",
            "Open Questions (7)",
            "3. Open-Questions",
            "OPEN QUESTION",
            "❓ Open Questions",
            "2.1) Open questions — for the team",
            "Section 4: Open Questions",
            "Remaining open questions",
            "Open questions for the vendor",
            "Open Questions and Risks",
            "Open questions [3 left]",
            "A. Open_questions",
        ] {
            let expected = HeadingMeaning::Section(SectionKind::Open);
            assert_eq!(meaning(heading), expected, "{heading}");
        }
        for heading in [
            "### 3. High-Confidence claims",
            "High confidence",
            "Claims of high confidence",
        ] {
            let expected = HeadingMeaning::Section(SectionKind::High);
            assert_eq!(meaning(heading), expected, "{heading}");
        }
        let medium = HeadingMeaning::Section(SectionKind::Medium);
        assert_eq!(meaning("Medium Confidence Items"), medium);
    }

    #[test]
    fn headings_of_other_things_do_not_match() {
        for heading in [
            "High confidence intervals",
            "Open",
            "Questions",
            "Reopen questions",
            "Highlights",
            "How open questions arise",
            "High confidence ratio",
            "",
            "—",
        ] {
            assert_eq!(meaning(heading), HeadingMeaning::Other, "{heading}");
        }
        for heading in [
            "Open Questions (resolved)",
            "Answered open questions",
            "Closed",
        ] {
            assert_eq!(meaning(heading), HeadingMeaning::Over, "{heading}");
        }
    }
}
