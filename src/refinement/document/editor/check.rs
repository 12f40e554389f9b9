//! Checks a result: it must be read as the blocks and list entries that the edits intend, in the
//! lists that they intend, with nothing lost, merged or read as something else.

use super::super::marker::MarkerSign;
use super::super::outline::{BlockContent, ListEntry, TopBlock, outline};

/// Ends a list where a blank line does not.
pub(super) const SEPARATOR: &str = "<!-- -->";

/// A block, or an entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    shape: String,
    /// The list that an entry is of, by any number.
    list: Option<usize>,
    is_numbered: bool,
}

impl Unit {
    pub(super) fn entry(entry: &ListEntry, list: usize) -> Self {
        Self {
            shape: entry.shape.clone(),
            list: Some(list),
            is_numbered: matches!(entry.marker.sign, MarkerSign::Number { .. }),
        }
    }

    /// Returns the unit of a block; `None` for lists and separators.
    pub(super) fn block(block: &TopBlock) -> Option<Self> {
        let shape = match &block.content {
            BlockContent::Heading { shape, .. } | BlockContent::Other { shape } => shape,
            BlockContent::List(_) => return None,
        };
        let is_separator = *shape == format!("html(\nv {SEPARATOR}\n)\n");
        (!is_separator).then(|| Self {
            shape: shape.clone(),
            list: None,
            is_numbered: false,
        })
    }
}

/// Returns the units of blocks, in order.
pub(super) fn units(blocks: &[TopBlock]) -> Vec<Unit> {
    let mut units = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        match &block.content {
            BlockContent::List(entries) => {
                units.extend(entries.iter().map(|entry| Unit::entry(entry, number)));
            }
            BlockContent::Heading { .. } | BlockContent::Other { .. } => {
                units.extend(Unit::block(block));
            }
        }
    }
    units
}

/// Returns true if a text is read as these units from a position on.
pub(super) fn is_read_as(text: &str, from: usize, expected: &[Unit]) -> bool {
    let read = units(&outline(text, from));
    let same_content = read.len() == expected.len()
        && read
            .iter()
            .zip(expected)
            .all(|(one, other)| one.shape == other.shape && one.is_numbered == other.is_numbered);
    same_content && joints(&read).eq(joints(expected))
}

/// Returns for each unit whether it is of the same list as the one before it.
fn joints(units: &[Unit]) -> impl Iterator<Item = bool> {
    let before = units.iter();
    let after = units.iter().skip(1);
    before
        .zip(after)
        .map(|(before, after)| before.list.is_some() && before.list == after.list)
}
