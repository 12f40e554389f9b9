//! The end of a text.

use super::fence::FenceTracker;

/// Cuts a text to its end of at most so many bytes, with `\n` as the end of a line, and returns
/// whether it was longer. The end begins with a whole line, and stands for itself as Markdown: it
/// begins after the block of code that the cut is in, or with the opening of its fence.
pub(super) fn end_of(text: &str, limit: usize) -> (String, bool) {
    let text = text.replace("\r\n", "\n");
    let Some(excess) = text.len().checked_sub(limit).filter(|excess| *excess > 0) else {
        return (text, false);
    };
    let start = (excess..text.len()).find(|at| text.is_char_boundary(*at));
    let start = start.unwrap_or(text.len());
    let after = text
        .get(start - 1..)
        .unwrap_or_else(|| text.get(start..).unwrap_or_default());
    let line = after.find('\n').map(|at| text.len() - after.len() + at + 1);
    let start = line.filter(|line| *line < text.len()).unwrap_or(start);
    let (before, end) = text.split_at(start);
    let mut fences = FenceTracker::default();
    before
        .lines()
        .for_each(|line| fences.pass_line(line.as_bytes()));
    let Some(fence) = fences.open() else {
        return (end.to_owned(), true);
    };
    let mut at = 0;
    for line in end.split_inclusive('\n') {
        at += line.len();
        fences.pass_line(line.trim_end().as_bytes());
        if fences.open().is_none() && line.ends_with('\n') {
            return (end.get(at..).unwrap_or_default().to_owned(), true);
        }
    }
    (fence.opening_line() + end, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str, limit: usize) -> String {
        let (end, is_cut) = end_of(text, limit);
        assert_eq!(is_cut, text.replace("\r\n", "\n").len() > limit);
        end
    }

    #[test]
    fn a_short_text_is_whole() {
        assert_eq!(end("one\r\ntwo\n", 100), "one\ntwo\n");
        assert_eq!(end("123\n567\n", 8), "123\n567\n");
    }

    #[test]
    fn a_long_text_begins_with_a_whole_line() {
        assert_eq!(end("first\nsecond\nthird\nfourth\n", 15), "third\nfourth\n");
        assert_eq!(end("first\n123\n567\n", 8), "123\n567\n");
    }

    #[test]
    fn a_single_long_line_keeps_its_end() {
        assert_eq!(end(&"0123456789".repeat(10), 5), "56789");
        assert_eq!(end(&"é".repeat(50), 5), "éé");
        assert_eq!(end(&format!("{}\nlast", "x".repeat(90)), 8), "last");
    }

    #[test]
    fn a_cut_in_code_begins_after_the_code() {
        let text = format!("text\n```rust\n{}```\nprose\n", "code\n".repeat(20));
        assert_eq!(end(&text, 30), "prose\n");
    }

    #[test]
    fn a_cut_in_code_without_end_repeats_the_fence() {
        let text = format!("text\n~~~~rust\n{}", "code\n".repeat(20));
        assert_eq!(end(&text, 10), "~~~~\ncode\ncode\n");
    }
}
