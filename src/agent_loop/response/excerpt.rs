//! The end of a text.

use super::fence::FenceTracker;
use crate::text::clean::token_at;

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
}
