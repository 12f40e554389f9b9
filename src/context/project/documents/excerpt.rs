//! Cuts documents at the borders of their paragraphs.

use crate::domain::cost::tokens::estimate_tokens;
use crate::text::clean::{front_matter, one_line, shortened};

/// The mark where a document was cut.
const CUT: &str = "[cut here: the rest of this document is left out]";

/// Front matter, comments, badges, images, HTML around them.
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

/// At most so many tokens, the mark of the cut among them; the whole document if it fits.
pub(super) fn cut(text: &str, tokens: u64) -> String {
    if estimate_tokens(text) <= tokens {
        return text.to_owned();
    }
    let space = tokens.saturating_sub(estimate_tokens(CUT) + 1);
    let [borders, words] = ends(text);
    let mut start = beginning(text, borders, space);
    if start.is_empty() {
        start = beginning(text, words, space);
    }
    match start {
        "" => String::new(),
        start => format!("{start}\n\n{CUT}"),
    }
}

fn beginning(text: &str, ends: Vec<usize>, tokens: u64) -> &str {
    let starts = ends.into_iter().map_while(|end| text.get(..end));
    let fitting = starts.take_while(|start| estimate_tokens(start) <= tokens);
    let mut start = fitting.last().unwrap_or_default().trim_end();
    // A heading without its section says nothing.
    let is_heading = |line: &&str| line.trim_start().starts_with('#');
    while let Some(last) = start.lines().last().filter(is_heading) {
        start = start.strip_suffix(last).unwrap_or_default().trim_end();
    }
    start
}

/// A block of code is one paragraph and one word.
fn ends(text: &str) -> [Vec<usize>; 2] {
    let (mut borders, mut words) = (Vec::new(), Vec::new());
    let mut at = 0;
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_code = !is_code;
        }
        if !is_code {
            if trimmed.is_empty() || trimmed.starts_with('#') {
                borders.push(at);
            }
            let spaces = line.match_indices(char::is_whitespace);
            words.extend(spaces.map(|(space, _)| at + space));
        }
        at += line.len();
    }
    [borders, words]
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
        for text in [text.replace("```", "~~~"), text] {
            assert_eq!(cut(&text, 60), format!("Before.\n\n{CUT}"));
            let (_, code) = text.split_once("\n\n").unwrap();
            assert_eq!(cut(code, 60), "");
            assert_eq!(cut(&format!("# Title\n\n{code}"), 60), "");
        }
    }

    #[test]
    fn a_heading_ends_the_paragraph_above_it() {
        let text = format!("Before.\n# Title\n{}", "wordy ".repeat(100));
        assert_eq!(cut(&text, 40), format!("Before.\n\n{CUT}"));
    }

    #[test]
    fn lines_without_spaces_are_cut_between_lines() {
        let cut = cut(&"line\n".repeat(1_000), 40);
        assert!(cut.starts_with("line\nline"), "{cut}");
        assert!(cut.ends_with(&format!("line\n\n{CUT}")), "{cut}");
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
