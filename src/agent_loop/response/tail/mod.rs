//! The end of a text of any length, in bounded memory.

mod fence;

use memchr::{memchr, memchr_iter, memrchr};

pub(super) use fence::FenceTracker;

/// The end of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// The text began earlier.
    pub(super) is_cut: bool,
}

/// Collects the end of a text, of at most a given length and from the beginning of a line.
///
/// Invariant: what [`TextTail::finish`] returns does not depend on the pieces in which the text
/// arrives.
#[derive(Clone, Debug)]
pub(super) struct TextTail {
    limit: usize,
    bytes: Vec<u8>,
    /// The fences of what was dropped.
    fences: FenceTracker,
    is_cut: bool,
    /// What was dropped ends within a line.
    cut_in_line: bool,
}

impl TextTail {
    /// Returns a collector of at most `limit` bytes; while it collects it holds twice as many.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            bytes: Vec::new(),
            fences: FenceTracker::default(),
            is_cut: false,
            cut_in_line: false,
        }
    }

    /// Returns the size of the buffer, in bytes.
    pub(super) fn held(&self) -> usize {
        self.bytes.capacity()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.limit);
    }

    pub(super) fn push(&mut self, mut text: &[u8]) {
        let most = self.limit.saturating_mul(2);
        while !text.is_empty() {
            let room = most.saturating_sub(self.bytes.len());
            let (piece, rest) = text.split_at(room.min(text.len()));
            self.reserve(piece.len(), most);
            self.bytes.extend_from_slice(piece);
            text = rest;
            if self.bytes.len() >= most {
                self.drop_front();
            }
        }
    }

    /// Appends an excerpt. One that is cut replaces what is there: there is a gap before it.
    pub(super) fn push_excerpt(&mut self, excerpt: &Excerpt) {
        if excerpt.is_cut {
            self.clear();
            self.is_cut = true;
        }
        self.push(excerpt.text.as_bytes());
    }

    /// Returns the end of the text with `\n` as the end of a line. It stands for itself as Markdown:
    /// it begins after the block of code that the cut is in, or with the opening of its fence.
    pub(super) fn finish(mut self) -> Excerpt {
        let start = self.start_of_end();
        self.drop_to(start);
        let mut opening = String::new();
        if let Some(fence) = self.fences.open() {
            match self.end_of_fence() {
                Some(end) => self.drop_to(end),
                None => opening = fence.opening_line(),
            }
        }
        let mut text = into_text(self.bytes);
        text.insert_str(0, &opening);
        if memchr(b'\r', text.as_bytes()).is_some() {
            text = text.replace("\r\n", "\n");
        }
        Excerpt {
            text,
            is_cut: self.is_cut,
        }
    }

    /// Grows the buffer to twice its size, as a vector does, but never beyond the most it may hold.
    fn reserve(&mut self, additional: usize, most: usize) {
        let needed = self.bytes.len().saturating_add(additional);
        if needed > self.bytes.capacity() {
            let capacity = needed
                .max(self.bytes.capacity().saturating_mul(2))
                .min(most);
            self.bytes
                .reserve_exact(capacity.saturating_sub(self.bytes.len()));
        }
    }

    /// Drops whole lines down to the limit; of a line beyond the limit its beginning.
    fn drop_front(&mut self) {
        let most = self.bytes.len().saturating_sub(self.limit);
        let front = self.bytes.get(..most).unwrap_or_default();
        let end = memrchr(b'\n', front).map_or(most, |newline| newline + 1);
        self.drop_to(end);
    }

    fn drop_to(&mut self, end: usize) {
        let Some(dropped) = self.bytes.get(..end) else {
            return;
        };
        if dropped.is_empty() {
            return;
        }
        self.is_cut = true;
        let mut start = 0;
        for newline in memchr_iter(b'\n', dropped) {
            if !self.cut_in_line {
                self.fences
                    .pass_line(dropped.get(start..newline).unwrap_or_default());
            }
            self.cut_in_line = false;
            start = newline + 1;
        }
        if start < end {
            if !self.cut_in_line {
                self.fences
                    .pass_line(dropped.get(start..).unwrap_or_default());
            }
            self.cut_in_line = true;
        }
        self.bytes.drain(..end);
    }

    /// Returns the beginning of the first line within the limit, or where a single line is cut.
    fn start_of_end(&self) -> usize {
        let excess = self.bytes.len().saturating_sub(self.limit);
        if excess == 0 && !self.cut_in_line {
            return 0;
        }
        let before = if self.cut_in_line && excess == 0 {
            0
        } else {
            excess.saturating_sub(1)
        };
        let rest = self.bytes.get(before..).unwrap_or_default();
        match memchr(b'\n', rest) {
            Some(newline) if before + newline + 1 < self.bytes.len() => before + newline + 1,
            _ => excess + continuation_bytes(self.bytes.get(excess..).unwrap_or_default()),
        }
    }

    /// Returns the end of the line that closes the open fence.
    fn end_of_fence(&self) -> Option<usize> {
        let mut fences = self.fences;
        let mut start = 0;
        for newline in memchr_iter(b'\n', &self.bytes) {
            fences.pass_line(self.bytes.get(start..newline)?);
            start = newline + 1;
            if fences.open().is_none() {
                return Some(start);
            }
        }
        None
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns the number of bytes at the beginning that continue a character of UTF-8.
fn continuation_bytes(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take(3)
        .take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000)
        .count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tail(text: &str, limit: usize) -> Excerpt {
        let mut tail = TextTail::new(limit);
        tail.push(text.as_bytes());
        tail.finish()
    }

    #[test]
    fn a_short_text_is_whole() {
        let excerpt = tail("one\r\ntwo\n", 100);
        assert_eq!(excerpt.text, "one\ntwo\n");
        assert!(!excerpt.is_cut);
        assert_eq!(tail("123\n567\n", 8).text, "123\n567\n");
    }

    #[test]
    fn a_long_text_begins_with_a_whole_line() {
        let excerpt = tail("first\nsecond\nthird\nfourth\n", 15);
        assert_eq!(excerpt.text, "third\nfourth\n");
        assert!(excerpt.is_cut);
        assert_eq!(tail("first\n123\n567\n", 8).text, "123\n567\n");
    }

    #[test]
    fn a_single_long_line_keeps_its_end() {
        assert_eq!(tail(&"0123456789".repeat(10), 5).text, "56789");
        assert_eq!(tail(&"é".repeat(50), 5).text, "éé");
        assert_eq!(tail(&format!("{}\nlast", "x".repeat(90)), 8).text, "last");
    }

    #[test]
    fn a_cut_in_code_begins_after_the_code() {
        let text = format!("text\n```rust\n{}```\nprose\n", "code\n".repeat(20));
        assert_eq!(tail(&text, 30).text, "prose\n");
    }

    #[test]
    fn a_cut_in_code_without_end_repeats_the_fence() {
        let text = format!("text\n~~~~rust\n{}", "code\n".repeat(20));
        assert_eq!(tail(&text, 10).text, "~~~~\ncode\ncode\n");
    }

    #[test]
    fn a_cut_excerpt_replaces_what_is_before_it() {
        let mut joined = TextTail::new(100);
        joined.push(b"before\n");
        joined.push_excerpt(&Excerpt {
            text: "end".to_owned(),
            is_cut: true,
        });
        let excerpt = joined.finish();
        assert_eq!(excerpt.text, "end");
        assert!(excerpt.is_cut);
    }

    proptest! {
        #[test]
        fn the_pieces_do_not_matter(
            text in "([a-zé`~ ]{0,6}\n?){0,40}",
            limit in 1_usize..40,
            size in 1_usize..20,
        ) {
            let mut pieces = TextTail::new(limit);
            for piece in text.as_bytes().chunks(size) {
                pieces.push(piece);
                prop_assert!(pieces.held() <= 2 * limit.max(8));
            }
            prop_assert_eq!(pieces.finish(), tail(&text, limit));
        }

        #[test]
        fn the_end_is_the_end_of_the_text(
            text in "([a-z]{0,6}\n?){0,40}",
            limit in 1_usize..40,
        ) {
            let excerpt = tail(&text, limit);
            prop_assert!(text.ends_with(&excerpt.text));
            prop_assert!(excerpt.text.len() <= limit);
            prop_assert_eq!(excerpt.is_cut, excerpt.text.len() < text.len());
        }
    }
}
