//! The words of a Markdown text on one line, without its markup.

use pulldown_cmark::{Event, Parser, TagEnd};

use crate::text::clean::one_line;

/// Code keeps its backticks.
pub fn plain(markdown: &str) -> String {
    let mut text = String::new();
    for event in Parser::new(markdown) {
        match event {
            Event::Text(words) | Event::Html(words) | Event::InlineHtml(words) => {
                text.push_str(&words);
            }
            Event::Code(code) => text.extend(["`", &code, "`"]),
            Event::SoftBreak | Event::HardBreak | Event::Rule => text.push(' '),
            Event::End(
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::CodeBlock,
            ) => text.push(' '),
            _ => {}
        }
    }
    let text = one_line(&text);
    // Nothing but markup, such as `***`, is shown as it is.
    if text.is_empty() {
        one_line(markdown)
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_no_markup_and_no_line_break() {
        for (markdown, words) in [
            ("**Use** *OAuth*,\nnot `jwt`.", "Use OAuth, not `jwt`."),
            ("# Title\n\n- one\n- two", "Title one two"),
            ("a <b>c\u{1b}[2J", "a <b>c[2J"),
            ("snake_case and 2 * 3", "snake_case and 2 * 3"),
            ("***", "***"),
            ("", ""),
        ] {
            assert_eq!(plain(markdown), words, "{markdown}");
        }
    }
}
