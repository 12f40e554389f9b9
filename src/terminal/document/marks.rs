//! Marks in foreign text that a page renders: `**bold**`, `` `code` `` and the bullets of lists.
//! Links, HTML and everything else stay text.
//!
//! Invariant: whatever the text, the page gains no tag but `strong` and `code`, and loses no
//! character but the marks.

use std::collections::BTreeMap;
use std::ops::Range;

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Event, Options, Parser, Tag};

/// What stands in the page for a mark.
type Replacements = BTreeMap<usize, (Range<usize>, &'static str)>;

pub(super) fn marked(text: &str) -> Markup {
    let mut page = String::new();
    let mut end = 0;
    for (mark, replacement) in marks(text).into_values() {
        page.push_str(&escaped(text.get(end..mark.start).unwrap_or_default()));
        page.push_str(replacement);
        end = mark.end;
    }
    page.push_str(&escaped(text.get(end..).unwrap_or_default()));
    PreEscaped(page)
}

pub(super) fn escaped(text: &str) -> String {
    html! { (text) }.into_string()
}

fn marks(text: &str) -> Replacements {
    let mut marks = Replacements::new();
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        let found = match event {
            Event::Start(Tag::Strong) => bold(text, &range),
            Event::Code(_) => code(text, &range),
            Event::Start(Tag::Item) => bullet(text, &range),
            _ => Vec::new(),
        };
        for (mark, replacement) in found {
            marks.insert(mark.start, (mark, replacement));
        }
    }
    marks
}

/// Bold words stand apart: `2**3**4` is no emphasis, and `__init__` is a name.
fn bold(text: &str, range: &Range<usize>) -> Vec<(Range<usize>, &'static str)> {
    let before = text.get(..range.start).and_then(|text| text.chars().last());
    let after = text.get(range.end..).and_then(|text| text.chars().next());
    let is_apart = |beside: Option<char>| !beside.is_some_and(char::is_alphanumeric);
    let is_bold = text
        .get(range.clone())
        .is_some_and(|bold| bold.len() > 4 && bold.starts_with("**") && bold.ends_with("**"));
    if is_bold && is_apart(before) && is_apart(after) {
        around(range, 2, ["<strong>", "</strong>"])
    } else {
        Vec::new()
    }
}

fn code(text: &str, range: &Range<usize>) -> Vec<(Range<usize>, &'static str)> {
    let span = text.get(range.clone()).unwrap_or_default();
    let ticks = span.len() - span.trim_start_matches('`').len();
    if ticks > 0 && 2 * ticks < span.len() {
        around(range, ticks, ["<code>", "</code>"])
    } else {
        Vec::new()
    }
}

fn bullet(text: &str, range: &Range<usize>) -> Vec<(Range<usize>, &'static str)> {
    match text.as_bytes().get(range.start) {
        Some(b'-' | b'*') => vec![(range.start..range.start + 1, "•")],
        _ => Vec::new(),
    }
}

fn around(
    range: &Range<usize>,
    width: usize,
    [open, close]: [&'static str; 2],
) -> Vec<(Range<usize>, &'static str)> {
    vec![
        (range.start..range.start + width, open),
        (range.end - width..range.end, close),
    ]
}
