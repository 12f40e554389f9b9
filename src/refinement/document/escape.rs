//! Makes text of models fit for one list entry: it is one line and one paragraph, with inline
//! markup at most. It begins no heading, list, quote, code or HTML, is no tag or checkbox, and
//! loads no image.

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::text::backslash::{live_places, with_backslashes};
use crate::text::clean::clean;

use super::outline::BlockContent;
use super::outline::{DIALECT, outline};

/// Empty if there is none.
pub(super) fn entry_text(text: &str) -> String {
    let line = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let line = without_live_markup(&line);
    if line.is_empty() || is_plain_entry(&line) {
        return line;
    }
    // A backslash before anything but punctuation is one that a reader sees.
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    [
        with_backslashes(&line, &[digits]),
        escaped(&line, |c| "[]*_`".contains(c)),
    ]
    .into_iter()
    .find(|escaped| is_plain_entry(escaped))
    .unwrap_or_else(|| escaped(&line, |c| c.is_ascii_punctuation()))
}

fn escaped(line: &str, is_live: impl Fn(char) -> bool) -> String {
    with_backslashes(line, &live_places(line, &[], |c, _| is_live(c)))
}

/// Puts a backslash before what can begin HTML or an image outside code, and before every link if
/// one of them is more than an address of a page.
fn without_live_markup(line: &str) -> String {
    let (mut code, mut has_unsafe_link) = (Vec::new(), false);
    // A word before it keeps the line a paragraph.
    let prefix = "x ";
    let source = format!("{prefix}{line}");
    for (event, range) in Parser::new_ext(&source, DIALECT).into_offset_iter() {
        match event {
            Event::Code(_) => code.push(range.start - prefix.len()..range.end - prefix.len()),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                has_unsafe_link |= !is_safe_address(&dest_url);
            }
            _ => {}
        }
    }
    let is_live = |c: char, next: Option<char>| match c {
        '<' => next.is_some_and(|c| c.is_ascii_alphabetic() || "/!?".contains(c)),
        '!' => next == Some('['),
        '[' => has_unsafe_link,
        _ => false,
    };
    with_backslashes(line, &live_places(line, &code, is_live))
}

/// An address with another scheme, such as `javascript:` or `data:`, runs or holds something.
fn is_safe_address(address: &str) -> bool {
    // Browsers pass over blanks in a scheme.
    let shown: String = address.chars().filter(|c| *c > ' ').collect();
    let (scheme, _) = shown.split_once(':').unwrap_or_default();
    let is_scheme = !scheme.contains(['/', '?', '#']);
    let scheme = scheme.to_lowercase();
    !is_scheme || ["", "http", "https", "mailto"].contains(&scheme.as_str())
}

/// Returns true if a line is one paragraph of an entry, in this Markdown and the plain one.
fn is_plain_entry(line: &str) -> bool {
    let source = format!("- {line}\n");
    let has_tag = outline(&source, 0)
        .iter()
        .any(|block| match &block.content {
            BlockContent::List(entries) => entries.iter().any(|entry| !entry.text.tags.is_empty()),
            BlockContent::Heading { .. } | BlockContent::Other { .. } => true,
        });
    !has_tag && is_one_paragraph(&source, DIALECT) && is_one_paragraph(&source, Options::empty())
}

fn is_one_paragraph(source: &str, dialect: Options) -> bool {
    let parser = Parser::new_ext(source, dialect);
    if parser.reference_definitions().iter().next().is_some() {
        return false;
    }
    let mut blocks = 0;
    for event in parser {
        match event {
            Event::Start(Tag::List(_) | Tag::Item) => blocks += 1,
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. }) => {}
            Event::Start(_)
            | Event::Rule
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::TaskListMarker(_) => return false,
            _ => {}
        }
    }
    blocks == 2
}

#[cfg(test)]
mod tests {
    use super::entry_text;

    #[test]
    fn text_is_escaped_where_it_would_be_more_than_text() {
        for (text, expected) in [
            ("a < b, *c*, `d_e` and C:\\x", "a < b, *c*, `d_e` and C:\\x"),
            ("<b>x</b> <!-- y", "\\<b>x\\</b> \\<!-- y"),
            ("`<b>` <b>", "`<b>` \\<b>"),
            ("\\<b> \\\\<b>", "\\<b> \\\\\\<b>"),
            ("see ![a](http://b)", "see \\![a](http://b)"),
            (
                "[a](https://b?c=d:e) `[a](data:b)`",
                "[a](https://b?c=d:e) `[a](data:b)`",
            ),
            ("[a](javascript:b)", "\\[a](javascript:b)"),
            ("[a](JAVA&#9;script&#58;b)", "\\[a](JAVA&#9;script&#58;b)"),
            ("[a](<data:b c>) [d](e)", "\\[a](\\<data:b c>) \\[d](e)"),
            ("![a](javascript:b)", "\\!\\[a](javascript:b)"),
            ("[[a](data:b)](http://c)", "\\[\\[a](data:b)](http://c)"),
            ("# a\n- b", "\\# a - b"),
            ("1. a", "1\\. a"),
            ("[NEW] a", "\\[NEW] a"),
            ("[x] a", "\\[x] a"),
            ("a \\[b [NEW]", "a \\[b \\[NEW\\]"),
        ] {
            assert_eq!(entry_text(text), expected, "{text}");
        }
    }
}
