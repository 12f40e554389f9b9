//! The fences of code in Markdown, line by line: enough to know whether a cut is inside code, and
//! to cut a text to its end.

use crate::text::clean::token_at;
use crate::text::pattern::Pattern;

/// The marks of a fence and what is behind them, also in a quote or in an item of a list.
static FENCE: Pattern = Pattern::new(
    r"^[ \t>]*(?:(?:[-*+]|[0-9]+[.)]) [ \t]*)?(?P<marks>```+|~~~+)[ \t]*(?P<info>.*?)\s*$",
);

/// Follows the fences of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct FenceTracker {
    /// Empty outside of code.
    marks: String,
}

impl FenceTracker {
    pub(crate) fn open(&self) -> Option<&str> {
        Some(self.marks.as_str()).filter(|marks| !marks.is_empty())
    }

    /// With or without its end.
    pub(crate) fn pass_line(&mut self, line: &str) {
        for fence in FENCE.all(line.trim_end()) {
            let text = |name| fence.name(name).map_or("", |found| found.as_str());
            let (marks, info) = (text("marks"), text("info"));
            let is_inline_code = marks.starts_with('`') && info.contains('`');
            if self.marks.is_empty() && !is_inline_code {
                marks.clone_into(&mut self.marks);
            } else if info.is_empty() && marks.starts_with(&self.marks) {
                self.marks.clear();
            }
        }
    }
}

/// Cuts a text to its end of at most so many bytes, with `\n` as the end of a line. The end begins
/// with a whole line, or with a whole word of a line that is longer, and stands for itself as
/// Markdown: with the opening of the fence of the code that the cut is in.
pub(super) fn end_of(text: &str, limit: usize) -> String {
    let text = text.replace("\r\n", "\n");
    if text.len() <= limit {
        return text;
    }
    let excess = text.len() - limit;
    let start = (excess..text.len()).find(|at| text.is_char_boundary(*at));
    let start = start.unwrap_or(text.len());
    let cut_line = text.as_bytes().get(start - 1..).unwrap_or_default();
    let line = memchr::memchr(b'\n', cut_line).map(|at| start + at);
    let line = line.filter(|line| *line < text.len());
    let start = line.unwrap_or_else(|| token_at(&text, start).end);
    let (before, end) = text.split_at(start);
    let mut fences = FenceTracker::default();
    before.lines().for_each(|line| fences.pass_line(line));
    match fences.open() {
        Some(marks) => format!("{marks}\n{end}"),
        None => end.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_whole() {
        assert_eq!(end_of("one\r\ntwo\n", 100), "one\ntwo\n");
        assert_eq!(end_of("123\n567\n", 8), "123\n567\n");
    }

    #[test]
    fn a_long_text_begins_with_a_whole_line() {
        assert_eq!(
            end_of("first\nsecond\nthird\nfourth\n", 15),
            "third\nfourth\n"
        );
        assert_eq!(end_of("first\n123\n567\n", 8), "123\n567\n");
    }

    #[test]
    fn a_single_long_line_keeps_its_end() {
        assert_eq!(end_of(&"01234 56789 ".repeat(10), 9), " 56789 ");
        assert_eq!(end_of(&"é".repeat(50), 5), "éé");
        assert_eq!(end_of(&format!("{}\nlast", "x".repeat(90)), 8), "last");
    }

    #[test]
    fn a_cut_in_code_repeats_the_fence() {
        let text = format!("text\n```rust\n{}```\nprose\n", "code\n".repeat(20));
        assert_eq!(end_of(&text, 20), "```\ncode\ncode\n```\nprose\n");

        let text = format!("text\n~~~~rust\n{}", "code\n".repeat(20));
        assert_eq!(end_of(&text, 10), "~~~~\ncode\ncode\n");
    }

    fn open_after(text: &str) -> Option<String> {
        let mut tracker = FenceTracker::default();
        text.lines().for_each(|line| tracker.pass_line(line));
        tracker.open().map(str::to_owned)
    }

    #[test]
    fn a_fence_is_closed_by_its_own_marker_only() {
        let tildes = open_after("~~~~ text\n```\n~~~\n");
        assert_eq!(tildes.as_deref(), Some("~~~~"));
        assert_eq!(open_after("~~~~ text\n```\n  ~~~~~ \n"), None);
        assert_eq!(
            open_after("```rust\ncode\n``` not the end"),
            open_after("```")
        );
    }

    #[test]
    fn fences_open_in_quotes_and_lists() {
        assert!(open_after("> ```").is_some());
        assert!(open_after("- ```sh\n  ls\n").is_some());
        assert!(open_after("12. ~~~\n").is_some());
        assert!(open_after("- ```sh\n  ls\n  ```\n").is_none());
    }

    #[test]
    fn inline_code_opens_no_fence() {
        assert_eq!(open_after("```inline``` code"), None);
        assert_eq!(open_after("``two``"), None);
        assert_eq!(open_after(""), None);
    }
}
