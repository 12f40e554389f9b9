//! The fences of code in Markdown, line by line: enough to know whether a cut is inside code.

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
    /// Returns the marks of the open fence.
    pub(crate) fn open(&self) -> Option<&str> {
        Some(self.marks.as_str()).filter(|marks| !marks.is_empty())
    }

    /// Takes in one line, with or without its end.
    pub(crate) fn pass_line(&mut self, line: &str) {
        if !line.contains("```") && !line.contains("~~~") {
            return;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
