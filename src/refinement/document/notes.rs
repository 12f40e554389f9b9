//! The sub-items of an item, as a reader sees them.

use super::item::SpecItem;
use super::outline::{BlockContent, outline};

/// Returns the words of each list entry that is nested directly in an item, without markup,
/// escapes and line breaks.
pub fn note_texts(item: &SpecItem) -> Vec<String> {
    let mut texts = Vec::new();
    for block in outline(&item.notes, 0) {
        match block.content {
            BlockContent::List(entries) => {
                texts.extend(entries.into_iter().map(|entry| entry.text.words));
            }
            BlockContent::Heading { .. } | BlockContent::Other { .. } => {}
        }
    }
    texts
}
