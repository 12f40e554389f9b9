//! The mark of labels: a document that has labels of its own, or numbers its questions itself,
//! gets labels that do not occur in it.

use crate::domain::hash::sha256;

use super::parse::has_label;

/// The length of a mark.
const LENGTH: usize = 4;

/// Returns a mark that does not occur in a document; `None` if it needs none.
pub fn mark_for(text: &str) -> Option<String> {
    if !has_label(text) {
        return None;
    }
    let upper = text.to_uppercase();
    let hash = sha256(text).to_uppercase();
    let parts = (0..hash.len() - LENGTH).filter_map(|at| hash.get(at..at + LENGTH));
    // A mark of digits alone would read as a number.
    let mut marks = parts.filter(|part| {
        part.starts_with(|c: char| c.is_ascii_alphabetic()) && !upper.contains(part)
    });
    marks.next().map(ToOwned::to_owned)
}

/// Returns a label's letter with its number and the mark: `Q1`, `Q1-B3F0`.
pub fn numbered(letter: &str, number: usize, mark: Option<&str>) -> String {
    match mark {
        Some(mark) => format!("{letter}{number}-{mark}"),
        None => format!("{letter}{number}"),
    }
}
