//! A consultation as a page.

use crate::domain::kept::Kept;

/// Writes the page.
pub fn page(kept: &Kept) -> String {
    kept.question.clone()
}
