//! The fences of code in Markdown, line by line: enough to know whether a cut is inside code.

/// An open fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    marker: u8,
    length: usize,
}

impl Fence {
    /// Returns the line that opens such a fence.
    pub(crate) fn opening_line(self) -> String {
        let mut line = char::from(self.marker).to_string().repeat(self.length);
        line.push('\n');
        line
    }

    fn is_closed_by(self, line: &[u8]) -> bool {
        let line = trim_start(line, b" \t>");
        let length = run_length(line, self.marker);
        let rest = line.get(length..).unwrap_or_default();
        length >= self.length && rest.trim_ascii().is_empty()
    }
}

/// Follows the fences of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FenceTracker {
    open: Option<Fence>,
}

impl FenceTracker {
    pub(crate) fn open(self) -> Option<Fence> {
        self.open
    }

    /// Takes in one line, with or without its end.
    pub(crate) fn pass_line(&mut self, line: &[u8]) {
        self.open = match self.open {
            Some(fence) if fence.is_closed_by(line) => None,
            Some(fence) => Some(fence),
            None => fence_opened_by(line),
        };
    }
}

/// Returns the fence that a line opens, also in a quote or in an item of a list.
fn fence_opened_by(line: &[u8]) -> Option<Fence> {
    let line = without_list_marker(trim_start(line, b" \t>"));
    let marker = *line.first()?;
    if !matches!(marker, b'`' | b'~') {
        return None;
    }
    let length = run_length(line, marker);
    let info = line.get(length..).unwrap_or_default();
    let is_inline_code = marker == b'`' && info.contains(&b'`');
    (length >= 3 && !is_inline_code).then_some(Fence { marker, length })
}

fn without_list_marker(line: &[u8]) -> &[u8] {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let width = match line.get(digits..) {
        Some([b'.' | b')', b' ', ..]) if digits > 0 => digits + 1,
        Some([b'-' | b'*' | b'+', b' ', ..]) if digits == 0 => 1,
        _ => 0,
    };
    trim_start(line.get(width..).unwrap_or_default(), b" \t")
}

fn trim_start<'a>(line: &'a [u8], bytes: &[u8]) -> &'a [u8] {
    let start = line.iter().take_while(|byte| bytes.contains(byte)).count();
    line.get(start..).unwrap_or_default()
}

fn run_length(line: &[u8], marker: u8) -> usize {
    line.iter().take_while(|byte| **byte == marker).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_after(text: &str) -> Option<Fence> {
        let mut tracker = FenceTracker::default();
        for line in text.lines() {
            tracker.pass_line(line.as_bytes());
        }
        tracker.open()
    }

    #[test]
    fn a_fence_is_closed_by_its_own_marker_only() {
        let tildes = Fence {
            marker: b'~',
            length: 4,
        };
        assert_eq!(open_after("~~~~ text\n```\n~~~\n"), Some(tildes));
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
