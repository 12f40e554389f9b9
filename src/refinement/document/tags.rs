//! Finds the tags of an item in the source of its first text: in brackets at the beginning or the
//! end, in any case, also in bold or as code. A link is no tag, and neither are escaped brackets.

use std::ops::Range;

use super::item::Tag;

/// A tag where it stands, with the white space that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlacedTag {
    pub(super) tag: Tag,
    pub(super) range: Range<usize>,
}

/// Markup that may surround a tag, the longest first.
const AROUND: [&str; 7] = ["***", "**", "__", "*", "_", "`", ""];

/// Returns the tags of a text, in order, with ranges in the text.
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

fn tag_at(text: &str, start: usize) -> Option<PlacedTag> {
    let source = text.get(start..)?;
    AROUND.into_iter().find_map(|around| {
        let inner = source.strip_prefix(around)?;
        let tag = Tag::ALL
            .into_iter()
            .find(|tag| begins_with(inner, tag.written()))?;
        let after = inner.get(tag.written().len()..)?.strip_prefix(around)?;
        let is_tag = |tag: &Tag| begins_with(after, tag.written());
        if after.starts_with('(') || after.starts_with('[') && !Tag::ALL.iter().any(is_tag) {
            return None;
        }
        let rest = after.strip_prefix(':').unwrap_or(after).trim_start();
        let range = start..text.len() - rest.len();
        Some(PlacedTag { tag, range })
    })
}

fn tag_before(text: &str, start: usize, end: usize) -> Option<PlacedTag> {
    let source = text.get(start..end)?;
    AROUND.into_iter().find_map(|around| {
        let inner = source.strip_suffix(around)?;
        let tag = Tag::ALL
            .into_iter()
            .find(|tag| ends_with(inner, tag.written()))?;
        let before = inner.get(..inner.len() - tag.written().len())?;
        let before = before.strip_suffix(around)?;
        let is_apart = before.is_empty() || before.ends_with(char::is_whitespace);
        let range = start + before.trim_end().len()..end;
        is_apart.then_some(PlacedTag { tag, range })
    })
}

fn begins_with(text: &str, tag: &str) -> bool {
    text.get(..tag.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(tag))
}

fn ends_with(text: &str, tag: &str) -> bool {
    let start = text.len().checked_sub(tag.len());
    start
        .and_then(|start| text.get(start..))
        .is_some_and(|end| end.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
