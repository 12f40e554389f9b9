//! The sections of a document: their headings, how far they reach, and their items.

use std::collections::BTreeMap;

use super::item::{SectionKind, SpecItem, Tag, is_settled, names_source, placed_tags};
use super::lines::{end_without_blank_lines, is_blank, lines, without_columns};
use super::outline::{BlockContent, ListEntry, TopBlock, outline};
use super::shape::paragraph;
use crate::refinement::document::words::expression;
use crate::stopping::convergence::QuestionKey;
use crate::text::clean::words;
use crate::text::pattern::Pattern;

/// The sections of a document.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub(super) items: BTreeMap<SectionKind, Vec<SpecItem>>,
    /// In the order of the document.
    pub(super) headings: Vec<SectionHeading>,
    /// Whether one of them has the name that this program gives to its section.
    pub(super) has_own_name: bool,
    /// Where paragraphs among the open questions begin that ask a question.
    pub(super) unlisted_questions: Vec<usize>,
    /// The number of questions in lists below each other heading, by its beginning and its words.
    pub(super) unread_questions: BTreeMap<(usize, String), usize>,
}

/// The heading of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SectionHeading {
    pub(super) kind: SectionKind,
    /// From 1 to 6, or that of labels.
    pub(super) level: usize,
    /// The index of its block.
    pub(super) block: usize,
    /// The index after its last block before a heading below it.
    pub(super) own_end: usize,
    /// The index after its last block, those of headings below it included.
    pub(super) end: usize,
}

/// The level of a paragraph that stands for a heading, such as a bold line: below all headings.
pub(super) const LABEL: usize = 7;
const OPEN: HeadingMeaning = HeadingMeaning::Section(SectionKind::Open);
/// The most words of a label that names what is below it.
const LABEL_WORDS: usize = 6;

impl Sections {
    pub(super) fn first(&self, kind: SectionKind) -> Option<&SectionHeading> {
        self.headings.iter().find(|heading| heading.kind == kind)
    }
}

pub(super) fn read_sections(text: &str, blocks: &[TopBlock]) -> Sections {
    let mut sections = Sections::default();
    // The headings that the current block stands below, with what they say of it.
    let mut scopes: Vec<(usize, HeadingMeaning)> = Vec::new();
    let mut named = None;
    for (index, block) in blocks.iter().enumerate() {
        if let Some((level, name)) = heading(block) {
            while scopes.pop_if(|(outer, _)| *outer >= level).is_some() {}
            let is_name = level < LABEL || words(name).count() <= LABEL_WORDS;
            let end = next_heading(blocks, index, |other, _| other <= level);
            let below = blocks.get(index..end).unwrap_or_default();
            let mut entries = below.iter().flat_map(TopBlock::entries);
            let asks_below = entries.any(|entry| is_question(&entry.text.words));
            let outer = scopes.last().map(|(_, outer)| *outer);
            // The question is the heading, and what it lists may be its answers.
            let lists_answers = outer == Some(OPEN) && !asks_below && is_question(name);
            let said = match meaning(name) {
                HeadingMeaning::Asking if asks_below => OPEN,
                HeadingMeaning::Other if lists_answers => {
                    sections.unlisted_questions.push(block.range.start);
                    HeadingMeaning::Over
                }
                HeadingMeaning::Asking => HeadingMeaning::Other,
                HeadingMeaning::Over if !is_name => HeadingMeaning::Other,
                said => said,
            };
            if let HeadingMeaning::Section(kind) = said {
                sections.has_own_name |= level < LABEL && has_own_name(name);
                sections.headings.push(SectionHeading {
                    kind,
                    level,
                    block: index,
                    own_end: next_heading(blocks, index, |other, name| {
                        let is_other = meaning(name) == HeadingMeaning::Other;
                        other < LABEL || level == LABEL || !is_other
                    }),
                    end,
                });
            }
            let is_other = said == HeadingMeaning::Other;
            let inherited = outer.filter(|_| is_other);
            scopes.push((level, inherited.unwrap_or(said)));
            if is_name {
                named = Some((block.range.start, name));
            }
        }
        let said = scopes.last().map(|(_, said)| *said);
        match (said, &block.content) {
            (Some(HeadingMeaning::Section(section)), BlockContent::List(entries)) => {
                let read = entries.iter();
                let read = read.filter_map(|entry| item_of(text, section, entry));
                sections.items.entry(section).or_default().extend(read);
            }
            (Some(HeadingMeaning::Other), BlockContent::List(entries)) => {
                let asks = entries
                    .iter()
                    .filter(|entry| is_question(&entry.text.words));
                let open = asks.filter_map(|entry| item_of(text, SectionKind::Open, entry));
                let count = open.count();
                if let Some((at, name)) = named.filter(|_| count * 2 >= entries.len()) {
                    let name = name.trim_end_matches([':', '：', ' ']).to_owned();
                    *sections.unread_questions.entry((at, name)).or_default() += count;
                }
            }
            (Some(OPEN), BlockContent::Other { shape }) if asks_question(shape) => {
                sections.unlisted_questions.push(block.range.start);
            }
            _ => {}
        }
    }
    sections
}

fn next_heading(blocks: &[TopBlock], index: usize, ends: impl Fn(usize, &str) -> bool) -> usize {
    let mut later = blocks.iter().enumerate().skip(index + 1);
    let next =
        later.find(|(_, block)| heading(block).is_some_and(|(level, name)| ends(level, name)));
    next.map_or(blocks.len(), |(at, _)| at)
}

/// Returns the level and the name of a block that is a heading or stands for one.
fn heading(block: &TopBlock) -> Option<(usize, &str)> {
    static NAME: Pattern = Pattern::prepared("label", expression);
    match &block.content {
        BlockContent::Heading { level, words, .. } => Some((*level as usize, words)),
        BlockContent::List(_) => None,
        BlockContent::Other { shape } => {
            let found = NAME.all(paragraph(shape)?).next()?;
            let name = found.iter().skip(1).flatten().next()?;
            Some((LABEL, name.as_str()))
        }
    }
}

fn is_question(words: &str) -> bool {
    static ASKS: Pattern = Pattern::prepared("asks", expression);
    ASKS.is_in(words)
}

/// Returns whether a block is a paragraph with a question mark after a word, or with a tag.
fn asks_question(shape: &str) -> bool {
    static ASKS: Pattern = Pattern::prepared("asks_inside", expression);
    let Some(text) = paragraph(shape) else {
        return false;
    };
    ASKS.is_in(text) || !placed_tags(text).is_empty()
}

/// `None` if it has no words, says that there is nothing, or is a question that is settled.
pub(super) fn item_of(text: &str, section: SectionKind, entry: &ListEntry) -> Option<SpecItem> {
    static PLACEHOLDER: Pattern = Pattern::prepared("placeholder", expression);
    let key = QuestionKey::of(&entry.text.words);
    if key.as_str().is_empty() || PLACEHOLDER.is_in(&entry.text.words) {
        return None;
    }
    let source = text.get(entry.range.clone()).unwrap_or_default();
    let notes = notes(text, entry);
    let tags: Vec<Tag> = entry.text.tags.iter().map(|placed| placed.tag).collect();
    if section == SectionKind::Open && !tags.contains(&Tag::Deferred) {
        let check = entry.text.check.and_then(|at| text.get(at..));
        let start = entry.text.tag_place.unwrap_or(entry.text.end);
        let written = text.get(start..entry.text.end).unwrap_or_default();
        let is_ticked = check.is_some_and(|check| check.starts_with(['x', 'X']));
        if is_ticked || is_settled(written, &entry.text.words, &notes) {
            return None;
        }
    }
    Some(SpecItem {
        section,
        range: entry.range.clone(),
        text: entry.text.words.clone(),
        notes,
        tags,
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
    /// They are open questions if one of them asks something.
    Asking,
    /// They are not worked on.
    Over,
    /// They belong to the section that the heading stands in.
    Other,
}

pub(super) fn meaning(heading: &str) -> HeadingMeaning {
    static OVER: Pattern = Pattern::prepared("over_heading", expression);
    static NOT_OVER: Pattern = Pattern::prepared("not_over_heading", expression);
    const fn named(list: &'static str, said: HeadingMeaning) -> (Pattern, HeadingMeaning) {
        (Pattern::prepared(list, expression), said)
    }
    static NAMES: [(Pattern, HeadingMeaning); 5] = [
        named("open_heading", HeadingMeaning::Section(SectionKind::Open)),
        named("high_heading", HeadingMeaning::Section(SectionKind::High)),
        named(
            "medium_heading",
            HeadingMeaning::Section(SectionKind::Medium),
        ),
        named("asking_heading", HeadingMeaning::Asking),
        named("apart_heading", HeadingMeaning::Over),
    ];
    let name = name_of(heading);
    if OVER.is_in(&name) && !NOT_OVER.is_in(&name) {
        return HeadingMeaning::Over;
    }
    let found = NAMES.iter().find(|(pattern, _)| pattern.is_in(&name));
    found.map_or(HeadingMeaning::Other, |(_, said)| *said)
}

/// Returns whether a heading has the name of a section, and not only one that means the same.
fn has_own_name(heading: &str) -> bool {
    static OWN: Pattern = Pattern::prepared("own_heading", expression);
    OWN.is_in(&name_of(heading))
}

/// In lower case, with one blank between words, and `|` for each sign that ends a part of it.
fn name_of(heading: &str) -> String {
    static SIGN: Pattern = Pattern::prepared("heading_sign", expression);
    static BETWEEN: Pattern = Pattern::prepared("between_words", expression);
    let name = heading.to_lowercase();
    let name = SIGN.replace_in(&name, " | ");
    BETWEEN.replace_in(&name, " ").trim().to_owned()
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
