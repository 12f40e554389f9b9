//! The kinds of sections, and one item of a section: a list entry with its tags.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::refinement::document::words::{TABLES, expression};
use crate::stopping::convergence::QuestionKey;
use crate::text::pattern::Pattern;

/// The sections that are worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    High,
    Medium,
    Open,
}

/// A tag of an item, in brackets at its beginning or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tag {
    /// A person must decide it: it is not asked.
    Deferred,
    /// Added by the last iteration: it has not been asked.
    New,
    /// Nothing is finished while it is open.
    Blocker,
}

/// A list entry at the top level of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecItem {
    pub section: SectionKind,
    /// The bytes of the whole item, from the beginning of its first line to the end of its last,
    /// with everything nested in it.
    pub range: Range<usize>,
    /// The words of its first paragraph, without markup, tags and checkbox.
    pub text: String,
    /// What is nested in it, as Markdown without its indentation; empty if there is nothing.
    pub notes: String,
    pub tags: Vec<Tag>,
    /// Whether it names a source: a consultation's id, a link, a path, or a reference in
    /// parentheses.
    pub has_source: bool,
    /// Of its words without their secrets.
    pub key: QuestionKey,
}

impl SectionKind {
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Open];

    pub fn heading(self) -> &'static str {
        match self {
            Self::High => "High Confidence",
            Self::Medium => "Medium Confidence",
            Self::Open => "Open Questions",
        }
    }
}

impl Tag {
    pub const ALL: [Self; 3] = [Self::Deferred, Self::New, Self::Blocker];

    /// `[NEW]`.
    pub fn written(self) -> &'static str {
        match self {
            Self::Deferred => "[DEFERRED]",
            Self::New => "[NEW]",
            Self::Blocker => "[BLOCKER]",
        }
    }
}

impl SpecItem {
    pub fn has(&self, tag: Tag) -> bool {
        self.tags.contains(&tag)
    }
}

/// A tag where it stands, with the white space that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlacedTag {
    pub(super) tag: Tag,
    pub(super) range: Range<usize>,
}

/// In order, with ranges in the text.
pub(super) fn placed_tags(text: &str) -> Vec<PlacedTag> {
    let mut tags = Vec::new();
    let mut start = text.len() - text.trim_start().len();
    while let Some(placed) = tag_at(text, start) {
        start = placed.range.end;
        tags.push(placed);
    }
    let mut last = Vec::new();
    let mut end = text.trim_end().len();
    while let Some(placed) = tag_before(text, start, end) {
        end = placed.range.start;
        last.push(placed);
    }
    tags.extend(last.into_iter().rev());
    tags
}

/// With or without markup around it, the longest first.
fn any_tag() -> String {
    let tags = Tag::ALL.map(|tag| regex::escape(tag.written())).join("|");
    let around = [r"\*\*\*", r"\*\*", "__", r"\*", "_", "`", ""];
    let forms = around.map(|mark| format!("{mark}(?:{tags}){mark}"));
    forms.join("|")
}

static FIRST_TAG: Pattern = Pattern::prepared("", |_| format!(r"(?i)^({}):?\s*", any_tag()));
static LAST_TAG: Pattern = Pattern::prepared("", |_| format!(r"(?i)(?:^|\s+)({})$", any_tag()));

fn tag_at(text: &str, start: usize) -> Option<PlacedTag> {
    let source = text.get(start..)?;
    let found = FIRST_TAG.all(source).next()?;
    let (whole, tag) = (found.get(0)?, found.get(1)?);
    let after = source.get(tag.end()..)?;
    let is_link = after.starts_with('(') || after.starts_with('[') && !FIRST_TAG.is_in(after);
    PlacedTag::new(tag.as_str(), start..start + whole.end()).filter(|_| !is_link)
}

fn tag_before(text: &str, start: usize, end: usize) -> Option<PlacedTag> {
    let found = LAST_TAG.all(text.get(start..end)?).next()?;
    PlacedTag::new(found.get(1)?.as_str(), start + found.get(0)?.start()..end)
}

impl PlacedTag {
    fn new(written: &str, range: Range<usize>) -> Option<Self> {
        let written = written.to_ascii_uppercase();
        let mut tags = Tag::ALL.into_iter();
        let tag = tags.find(|tag| written.contains(tag.written()))?;
        Some(Self { tag, range })
    }
}

pub(super) fn names_source(text: &str) -> bool {
    /// An address, an id, or a path: one has a separator, and begins like a path or ends with the
    /// name of a file. `and/or` is none.
    static WORD: Pattern = Pattern::prepared("", |_| {
        let apart = r#"\s()\[\]{}<>"'`,;*|“”‘’"#;
        let begins = format!(r"\.{{1,2}}[/\\]|~/|[A-Za-z]:[^{apart}]*[/\\]");
        let name = format!(r"[^{apart}/\\#:?]+\.[0-9]*[A-Za-z][A-Za-z0-9]{{0,7}}");
        let ends = format!(r"[^{apart}]*[/\\]{name}(?:[#:?{apart}]|$)");
        let id = "consult-[A-Za-z0-9]{8}";
        format!("https?://|(?:^|[{apart}])(?:{id}|{begins}|{ends})")
    });
    /// In small letters, without nested parentheses: words of the table, or an author and a year.
    static REFERENCE: Pattern = Pattern::prepared("", |_| {
        let words = TABLES.list("references").iter().map(|start| {
            let is_word = start.ends_with(char::is_alphabetic) && start != "ref";
            let rest = if is_word {
                r"(?:[^\p{Ll}()][^()]*)?"
            } else {
                "[^()]*"
            };
            format!("{}{rest}", regex::escape(start))
        });
        let words = words.collect::<Vec<_>>().join("|");
        let author = r"[\pL ,.&'’-]*\pL[\pL ,.&'’-]*";
        format!(r"\(\s*(?:{words}|{author}[ ,](?:19|20)\d\d[^ ,()]?\s*)\)")
    });
    WORD.is_in(text) || REFERENCE.is_in(&text.to_lowercase())
}

/// Returns whether a question says of itself that it is settled or for later: its text as it is
/// written, its words, or what is nested in it.
pub(super) fn is_settled(written: &str, words: &str, notes: &str) -> bool {
    static STRUCK: Pattern = Pattern::prepared("struck", expression);
    static MARK: Pattern = Pattern::prepared("mark", expression);
    static NOTE: Pattern = Pattern::prepared("settling_note", expression);
    static UNSETTLED: Pattern = Pattern::prepared("unsettled", expression);
    let is_marked = STRUCK.is_in(written) || MARK.is_in(words) || NOTE.is_in(notes);
    let mut texts = [words, written, notes].into_iter();
    is_marked && !texts.any(|text| UNSETTLED.is_in(text))
}

#[cfg(test)]
mod tests {
    use super::{names_source, *};

    fn read(text: &str) -> (Vec<Tag>, String) {
        let tags = placed_tags(text);
        let mut rest = text.to_owned();
        for placed in tags.iter().rev() {
            rest.replace_range(placed.range.clone(), "");
        }
        (tags.iter().map(|placed| placed.tag).collect(), rest)
    }

    #[test]
    fn tags_stand_at_the_beginning_or_the_end() {
        for (text, tags, rest) in [
            ("[NEW] a question", vec![Tag::New], "a question"),
            (
                "[new][Blocker]: a question",
                vec![Tag::New, Tag::Blocker],
                "a question",
            ),
            ("**[BLOCKER]** a", vec![Tag::Blocker], "a"),
            ("`[DEFERRED]` a", vec![Tag::Deferred], "a"),
            (
                "a question [DEFERRED] [NEW]",
                vec![Tag::Deferred, Tag::New],
                "a question",
            ),
            (
                "[NEW] a question\n  [BLOCKER]",
                vec![Tag::New, Tag::Blocker],
                "a question",
            ),
            ("[NEW]", vec![Tag::New], ""),
        ] {
            assert_eq!(read(text), (tags, rest.to_owned()), "{text}");
        }
    }

    #[test]
    fn links_and_words_in_the_middle_are_no_tags() {
        for text in [
            "[NEW](http://a) x",
            "[NEW][a] x",
            "x [a][NEW]",
            "the [NEW] one",
            r"\[NEW] x",
            r"x \[NEW]",
            "x ![NEW]",
            "[NEWER] x",
            "x[NEW]",
            "é[NEW]",
        ] {
            assert_eq!(read(text), (vec![], text.to_owned()), "{text}");
        }
    }

    #[test]
    fn sources_are_consultations_addresses_paths_and_references() {
        for text in [
            "A — ANSWER — consult-01jd8z0000aaaa, 86 %",
            "see https://a.b",
            "in `src/main.rs:42`",
            "C:\\Users\\me\\notes.txt says so",
            "./run",
            "(RFC 9110)",
            "(see the minutes)",
            "(§4.2)",
            "(Smith et al., 2020)",
            "(refs: a)",
            "(#123)",
            "docs/spec.md#goals",
        ] {
            assert!(names_source(text), "{text}");
        }
    }

    #[test]
    fn words_and_amounts_name_no_source() {
        for text in [
            "read and/or write",
            "TCP/IP, 24/7",
            "takes (5 ms)",
            "in 2020",
            "(maybe)",
            "a (b)",
            "1/2.5 of it",
            "consult-ants",
            "(permanent)",
        ] {
            assert!(!names_source(text), "{text}");
        }
    }
}
