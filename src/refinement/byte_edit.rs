//! Edits of a text by byte ranges: what no edit names stays as it is.

use std::ops::Range;

/// The replacement of a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteEdit {
    pub range: Range<usize>,
    pub text: String,
}

impl ByteEdit {
    pub fn insertion(at: usize, text: String) -> Self {
        Self {
            range: at..at,
            text,
        }
    }
}

/// Applies edits that do not overlap; insertions at the same place keep their order.
pub fn apply(text: &str, mut edits: Vec<ByteEdit>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut edited = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        edited.push_str(text.get(at..edit.range.start).unwrap_or_default());
        edited.push_str(&edit.text);
        at = edit.range.end.max(at);
    }
    edited.push_str(text.get(at..).unwrap_or_default());
    edited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insertion_comes_before_what_replaces_the_same_place() {
        let replacement = ByteEdit {
            range: 1..2,
            text: "X".to_owned(),
        };
        let insertions = ["i", "j"].map(|text| ByteEdit::insertion(1, text.to_owned()));
        let [first, second] = insertions;
        assert_eq!(apply("abc", vec![replacement, first, second]), "aijXc");
    }
}
