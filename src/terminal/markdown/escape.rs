//! Escapes text of models: it cannot break the structure of the document, make a renderer load or
//! link to anything, or control the terminal that shows it. Structure becomes text; only invisible
//! characters are dropped.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::text::backslash::{live_places, with_backslashes};
use crate::text::clean::{clean, one_line};

/// Returns the text as one line of Markdown that is a single paragraph, fit for a list item or a
/// heading.
pub fn inline(text: &str) -> String {
    let line = edited(one_line(text), inline_edits);
    if is_one_paragraph(&line) {
        return line;
    }
    // `1. x`: the character after the number makes it a list.
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let mut escaped = line.clone();
    escaped.insert(digits, '\\');
    if is_one_paragraph(&escaped) {
        escaped
    } else {
        with_backslashes(
            &line,
            &live_places(&line, &[], |c, _| c.is_ascii_punctuation()),
        )
    }
}

/// Returns the text as self-contained blocks of Markdown: headings below the fourth level, no
/// rules, no HTML, nothing left open.
pub fn block(text: &str) -> String {
    let text = clean(text);
    let text = text.trim_matches('\n').trim_end();
    let contained = edited(text.to_owned(), |text, dialect| {
        let mut edits = structure_edits(text, dialect);
        edits.extend(inline_edits(text, dialect));
        edits
    });
    // A fence may be open at the end.
    let closed = ["", "\n```", "\n~~~"].map(|end| format!("{contained}{end}"));
    let closed = closed.into_iter().find(|closed| is_contained(closed));
    closed.unwrap_or_else(|| fenced(text, "text"))
}

/// How renderers may read the text. They differ in what is code: a cell of a table ends at a `|` in
/// spite of backticks around it.
const DIALECTS: [Options; 2] = [
    Options::empty(),
    Options::ENABLE_TABLES
        .union(Options::ENABLE_STRIKETHROUGH)
        .union(Options::ENABLE_TASKLISTS)
        .union(Options::ENABLE_FOOTNOTES),
];

/// The bytes to replace, and the replacement.
type Edit = (Range<usize>, String);

/// Edits a text until no dialect needs more edits. An edit can uncover the need for another.
fn edited(mut text: String, edits: impl Fn(&str, Options) -> Vec<Edit>) -> String {
    for _ in 0..4 {
        let mut is_done = true;
        for dialect in DIALECTS {
            let edits = edits(&text, dialect);
            if !edits.is_empty() {
                is_done = false;
                text = apply(&text, edits);
            }
        }
        if is_done {
            break;
        }
    }
    text
}

fn escape_at(at: usize) -> Edit {
    (at..at, "\\".to_owned())
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut edited = String::with_capacity(text.len() + edits.len());
    let mut at = 0;
    for (range, replacement) in edits {
        if range.start < at {
            continue;
        }
        edited.push_str(text.get(at..range.start).unwrap_or_default());
        edited.push_str(&replacement);
        at = range.end;
    }
    edited.push_str(text.get(at..).unwrap_or_default());
    edited
}

/// Puts a backslash before all that can open HTML, before the end of every link, image and link
/// definition, and before every unpaired backtick. Each could also pair with one in the next text.
fn inline_edits(text: &str, dialect: Options) -> Vec<Edit> {
    let mut code: Vec<Range<usize>> = Vec::new();
    for (event, range) in Parser::new_ext(text, dialect).into_offset_iter() {
        if let Event::Code(_) | Event::Start(Tag::CodeBlock(_)) = event {
            code.push(range);
        }
    }
    let is_live = |c: char, next: Option<char>| match c {
        '`' => true,
        '<' => next.is_some_and(|c| c.is_ascii_alphabetic() || "/!?".contains(c)),
        ']' => next.is_none_or(|c| c == '('),
        _ => false,
    };
    let places = live_places(text, &code, is_live);
    places.into_iter().map(escape_at).collect()
}

/// Lowers headings, and turns rules and link definitions into visible text.
fn structure_edits(text: &str, dialect: Options) -> Vec<Edit> {
    let parser = Parser::new_ext(text, dialect);
    let definitions = parser.reference_definitions().iter();
    let mut edits: Vec<Edit> = definitions
        .map(|(_, definition)| escape_at(definition.span.start))
        .collect();
    for (event, range) in parser.into_offset_iter() {
        let source = text.get(range.clone()).unwrap_or_default();
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let marks = source.chars().take_while(|c| *c == '#').count();
                if marks == 0 {
                    // An underlined heading: the underline becomes text.
                    let underline = source
                        .trim_end()
                        .rfind('\n')
                        .map_or(range.start, |at| range.start + at + 1);
                    let indent = text.get(underline..).map_or(0, |line| {
                        line.len() - line.trim_start_matches([' ', '>', '\t']).len()
                    });
                    edits.push(escape_at(underline + indent));
                } else if (level as usize) < 4 {
                    let lowered = "#".repeat((marks + 3).min(6));
                    edits.push((range.start..range.start + marks, lowered));
                }
            }
            Event::Rule | Event::Start(Tag::FootnoteDefinition(_)) => {
                edits.push(escape_at(range.start));
            }
            _ => {}
        }
    }
    edits
}

/// Returns true when the text has no structure, links or images of its own and does not change how
/// the following text is read.
fn is_contained(text: &str) -> bool {
    DIALECTS
        .into_iter()
        .all(|dialect| is_contained_in(text, dialect))
}

fn is_contained_in(text: &str, dialect: Options) -> bool {
    let followed = format!("{text}\n\n## after\n");
    let parser = Parser::new_ext(&followed, dialect);
    if parser.reference_definitions().iter().next().is_some() {
        return false;
    }
    let after = text.len();
    let (mut depth, mut found) = (0usize, false);
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                if range.start > after {
                    found = depth == 0;
                } else if (level as usize) < 4 {
                    return false;
                }
                depth += 1;
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => return false,
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Html(_) | Event::InlineHtml(_) | Event::Rule => return false,
            _ => {}
        }
    }
    found
}

fn is_one_paragraph(line: &str) -> bool {
    let first = Parser::new(line).next();
    line.is_empty() || first == Some(Event::Start(Tag::Paragraph)) && is_contained(line)
}

/// In a fence longer than any in the text, which stays as it is.
pub fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn structure_in_model_text_is_escaped_and_the_rest_unchanged() {
        assert_eq!(
            block("# Title\n\ntext **bold** `Vec<T>`"),
            "#### Title\n\ntext **bold** `Vec<T>`"
        );
        assert_eq!(block("Title\n====="), "Title\n\\=====");
        assert_eq!(
            block("a\n\n---\n\n**Cost:** $0"),
            "a\n\n\\---\n\n**Cost:** $0"
        );
        assert_eq!(
            block("<script>alert(1)</script>"),
            "\\<script>alert(1)\\</script>"
        );
        assert_eq!(block("a <b>c</b>"), "a \\<b>c\\</b>");
        assert_eq!(block("```rust\nlet x = 1;"), "```rust\nlet x = 1;\n```");
        assert_eq!(
            block("[Judge]: http://example.com"),
            "\\[Judge]: http://example.com"
        );
        assert_eq!(
            block("note[^1]\n\n[^1]: as a footnote"),
            "note[^1]\n\n\\[^1]: as a footnote"
        );
        assert_eq!(
            block("- one\n- two\n\n1. three"),
            "- one\n- two\n\n1. three"
        );
    }

    #[test]
    fn a_fence_is_longer_than_those_in_its_text() {
        assert_eq!(fenced("a", "rust"), "```rust\na\n```");
        assert_eq!(fenced("```\n````", ""), "`````\n```\n````\n`````");
    }

    #[test]
    fn links_and_images_become_text() {
        for (text, escaped) in [
            ("![](http://a/b.png)", r"![\](http://a/b.png)"),
            ("[x](javascript:alert(1))", r"[x\](javascript:alert(1))"),
            ("[![a](b)](c)", r"[![a\](b)\](c)"),
            ("<https://a.b>", r"\<https://a.b>"),
            ("<me@a.b>", r"\<me@a.b>"),
            (
                "<img src=x onerror=alert(1)>",
                r"\<img src=x onerror=alert(1)>",
            ),
            ("![x][y]", r"![x][y\]"),
            ("see https://a.b", "see https://a.b"),
            ("`[x](y)` a[0](1)", r"`[x](y)` a[0\](1)"),
            (r"\[x](y) \\[x](y) [x\](y)", r"\[x\](y) \\[x\](y) [x\](y)"),
        ] {
            assert_eq!(inline(text), escaped, "{text}");
            assert_eq!(block(text), escaped, "{text}");
        }
        assert_eq!(
            block("![x][y]\n\n[y]: http://a"),
            "![x][y]\n\n\\[y]: http://a"
        );
        assert_eq!(block("```\n![](a)\n```"), "```\n![](a)\n```");
    }

    #[test]
    fn cell_of_a_table_ends_code_in_dialects_with_tables() {
        let table = block("a | b\n---|---\n` | ![](http://a) `");
        assert!(!table.contains("![](http"), "{table}");
    }

    #[test]
    fn two_texts_on_one_line_make_no_link_or_html() {
        for (first, second) in [
            ("![a", "b](http://a)"),
            ("[a]", "[b](http://a)"),
            ("<img src=x title='", "'>"),
            ("<!--", "-->"),
            (r"\\`", "`"),
        ] {
            let line = format!("{}: {}", inline(first), inline(second));
            assert!(is_contained(&line), "{line}");
            assert!(!line.contains("``"), "{line}");
        }
    }

    #[test]
    fn line_stays_a_paragraph_whatever_its_first_characters() {
        assert_eq!(inline("# no heading\nhere"), "\\# no heading here");
        assert_eq!(inline("1. no list"), "1\\. no list");
        assert_eq!(inline("- no list"), "\\- no list");
        assert_eq!(inline("> no quote"), "\\> no quote");
        assert_eq!(inline("--- "), "\\---");
        assert_eq!(inline("plain **bold** text"), "plain **bold** text");
    }

    proptest! {
        #[test]
        fn escaped_text_never_changes_the_document_structure(
            text in r"(\PC|[\n\t#>`~<\-=*_\[\]():!|\\]|```|<!--|<div>|\[a\]: b|!?\[a\]\(b\)|\[\^a\]|\|-\|-\||    ){0,60}",
        ) {
            prop_assert!(is_contained(&block(&text)), "{:?}", block(&text));
            prop_assert!(is_one_paragraph(&inline(&text)), "{:?}", inline(&text));
        }

        #[test]
        fn escaping_loses_no_letter(text in r"([a-z]|[\n #>`<\-=\[\]:]){0,60}") {
            let letters = |text: &str| {
                text.chars()
                    .filter(char::is_ascii_lowercase)
                    .collect::<String>()
            };
            // The last resort names its fence `text`.
            let shown = block(&text);
            let shown = shown.replacen("```text\n", "```\n", 1);
            prop_assert!(letters(&shown).ends_with(&letters(&text)), "{shown:?}");
            prop_assert_eq!(letters(&inline(&text)), letters(&text));
        }
    }
}
