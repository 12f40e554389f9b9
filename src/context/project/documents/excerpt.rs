//! Cuts documents at the borders of their paragraphs.

use crate::domain::tokens::estimate_tokens;
use crate::text::clean::{front_matter, one_line, shortened};

/// The mark where a document was cut.
const CUT: &str = "[cut here: the rest of this document is left out]";

/// Returns a document without what only decorates it: front matter, comments, badges, images, HTML
/// around them.
pub(super) fn without_decoration(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = front_matter(text).map_or(text, |range| text.get(range.end..).unwrap_or_default());
    let mut plain = String::new();
    let mut is_comment = false;
    let mut is_code = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_code = !is_code;
        }
        if !is_code {
            if trimmed.starts_with("<!--") {
                is_comment = true;
            }
            if is_comment {
                is_comment = !trimmed.contains("-->");
                continue;
            }
            if is_decoration(trimmed) {
                continue;
            }
        }
        plain.extend(line.chars().filter(|c| !c.is_control() || *c == '\t'));
        plain.push('\n');
    }
    let mut text = plain.trim().to_owned();
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text
}

fn is_decoration(line: &str) -> bool {
    let is_tag = line.starts_with('<') && line.ends_with('>') && !line.contains("://");
    let is_image = ["[![", "![", ".. image::", "<img", "<a ", "image:"]
        .iter()
        .any(|start| line.starts_with(start));
    is_tag || is_image
}

/// Returns the beginning of a document that has at most so many tokens, the mark of the cut among
/// them; the whole document if it fits.
pub(super) fn cut(text: &str, tokens: u64) -> String {
    if estimate_tokens(text) <= tokens {
        return text.to_owned();
    }
    let space = tokens.saturating_sub(estimate_tokens(CUT) + 1);
    let mut start = beginning(text, "\n\n", space);
    if start.matches("```").count() % 2 == 1 {
        start = start.rsplit_once("```").map_or("", |(before, _)| before);
    }
    // No heading stands without its text.
    let is_heading = |line: &&str| line.trim_start().starts_with('#') || line.trim().is_empty();
    while let Some(last) = start.lines().last().filter(is_heading) {
        start = start
            .trim_end_matches('\n')
            .strip_suffix(last)
            .unwrap_or_default();
    }
    if start.is_empty() {
        start = beginning(text, " ", space);
    }
    match start.trim_end() {
        "" => String::new(),
        start => format!("{start}\n\n{CUT}"),
    }
}

/// Returns the longest beginning up to a mark that has no more tokens.
fn beginning<'t>(text: &'t str, mark: &str, tokens: u64) -> &'t str {
    let starts = text
        .match_indices(mark)
        .map_while(|(end, _)| text.get(..end));
    let fitting = starts.take_while(|start| estimate_tokens(start) <= tokens);
    fitting.last().unwrap_or_default()
}

/// Returns the first paragraph of a document that is neither a heading nor the introduction of a
/// list, on one line of at most so many characters.
pub(in crate::context::project) fn first_paragraph(text: &str, characters: usize) -> String {
    let text = without_decoration(text);
    let paragraph = text.split("\n\n").find(|paragraph| {
        let paragraph = paragraph.trim();
        !paragraph.is_empty()
            && !paragraph.starts_with(['#', '=', '-', '*', '|', '`', '>', '[', '.'])
            && !paragraph.ends_with(':')
            && !paragraph.lines().nth(1).is_some_and(is_underline)
    });
    shortened(&one_line(paragraph.unwrap_or_default()), characters)
}

/// Returns whether a line makes a heading of the one above it.
fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    let is_all = |mark: char| line.chars().all(|c| c == mark);
    !line.is_empty() && (is_all('=') || is_all('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_cut_between_paragraphs_with_a_mark() {
        let text = format!(
            "# Title\n\n{}\n\n## Next\n\n{}",
            "a ".repeat(100),
            "b ".repeat(400)
        );
        let cut = cut(&text, 100);
        assert!(cut.starts_with("# Title\n\na a"), "{cut}");
        assert!(cut.ends_with(&format!("a\n\n{CUT}")), "{cut}");
        assert!(!cut.contains("Next"), "{cut}");
        assert!(estimate_tokens(&cut) <= 100);
    }

    #[test]
    fn a_block_of_code_is_not_cut() {
        let code = format!("```\n{}\n```", "line\n\n".repeat(100));
        let text = format!("Before.\n\n{code}\n\nAfter.");
        assert_eq!(cut(&text, 60), format!("Before.\n\n{CUT}"));
    }

    #[test]
    fn a_long_first_paragraph_is_cut_between_words() {
        let cut = cut(&"wordy ".repeat(1_000), 40);
        assert!(cut.starts_with("wordy wordy"), "{cut}");
        assert!(cut.ends_with(CUT), "{cut}");
        assert!(estimate_tokens(&cut) <= 40);
    }

    #[test]
    fn short_documents_stay_whole() {
        assert_eq!(cut("# A\n\nb", 10), "# A\n\nb");
        assert_eq!(cut(&"x".repeat(4_000), 20), "");
    }

    #[test]
    fn decoration_goes() {
        let text = "---\ntitle: x\n---\n<h1 align=\"center\">\n<!-- a\nb -->\n[![ci](u)](v)\n# A\n\nText.\n\n\
                    ```html\n<p>\n```\n";
        assert_eq!(
            without_decoration(text),
            "# A\n\nText.\n\n```html\n<p>\n```"
        );
    }

    #[test]
    fn first_paragraph_passes_over_headings() {
        assert_eq!(first_paragraph("# A\n\nB\nc.\n\nD", 80), "B c.");
        assert_eq!(first_paragraph("A\n=\n\nLong text", 5), "Long…");
        assert_eq!(first_paragraph("# A", 5), "");
        assert_eq!(
            first_paragraph("You may look for:\n\n- b\n\nA parser.", 80),
            "A parser."
        );
    }
}
