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

    fn block(shape: &str) -> Option<Self> {
        let is_separator = *shape == format!("HtmlBlock(\nv {SEPARATOR}\n)\n");
        (!is_separator).then(|| Self {
            shape: shape.to_owned(),
            list: None,
            is_numbered: false,
        })
    }
}

/// Returns the units of blocks, in order, without separators. The lists are numbered from `first`.
pub(super) fn units(blocks: &[TopBlock], first: usize) -> impl Iterator<Item = Unit> {
    (first..).zip(blocks).flat_map(|(number, block)| {
        let units: Vec<Unit> = match &block.content {
            BlockContent::List(entries) => {
                let entries = entries.iter();
                entries.map(|entry| Unit::entry(entry, number)).collect()
            }
            BlockContent::Heading { shape, .. } | BlockContent::Other { shape } => {
                Unit::block(shape).into_iter().collect()
            }
        };
        units
    })
}

/// Returns true if a text is read as these units from a position on.
pub(super) fn is_read_as(text: &str, from: usize, expected: &[Unit]) -> bool {
    let read: Vec<Unit> = units(&outline(text, from), 0).collect();
    let is_same = |(one, other): (&Unit, &Unit)| {
        one.shape == other.shape && one.is_numbered == other.is_numbered
    };
    read.len() == expected.len()
        && read.iter().zip(expected).all(is_same)
        && joints(&read).eq(joints(expected))
}

/// Returns for each unit whether it is of the same list as the one before it.
fn joints(units: &[Unit]) -> impl Iterator<Item = bool> {
    let is_joint = |pair: &[Unit]| match pair {
        [before, after] => before.list.is_some() && before.list == after.list,
        _ => false,
    };
    units.windows(2).map(is_joint)
}
