//! The form of a list that items join: its markers, and whether blank lines stand between them.

use super::super::lines::is_blank_before;
use super::super::marker::ListMarker;
use super::super::outline::ListEntry;

/// The form of the entries that are added to a list.
#[derive(Clone, Debug)]
pub(super) struct ListForm {
    /// The marker of the next entry.
    pub(super) marker: ListMarker,
    /// Whether a blank line stands between entries.
    pub(super) is_loose: bool,
    counts: bool,
}

impl ListForm {
    /// The form of a new list.
    pub(super) fn plain() -> Self {
        Self {
            marker: ListMarker::plain(),
            is_loose: false,
            counts: false,
        }
    }

    /// Reads the form of a list of which entries are removed; `None` for a list without entries.
    pub(super) fn of(
        text: &str,
        entries: &[ListEntry],
        is_removed: impl Fn(&ListEntry) -> bool,
    ) -> Option<Self> {
        let last = entries.last()?;
        let before_last = entries.len().checked_sub(2).and_then(|at| entries.get(at));
        let is_same_number = |before: &ListEntry| before.marker.sign == last.marker.sign;
        let kept = entries.iter().rfind(|entry| !is_removed(entry));
        let counts = !before_last.is_some_and(is_same_number);
        let sign = match kept {
            Some(kept) if counts => kept.marker.sign.next(),
            Some(kept) => kept.marker.sign,
            None => entries.first().unwrap_or(last).marker.sign,
        };
        Some(Self {
            marker: last.marker.with_sign(sign),
            is_loose: before_last.is_some() && is_blank_before(text, last.range.start),
            counts,
        })
    }

    /// Returns the marker of the next entry, and steps to the one after it.
    pub(super) fn take_marker(&mut self) -> ListMarker {
        let marker = self.marker.clone();
        if self.counts {
            self.marker = marker.with_sign(marker.sign.next());
        }
        marker
    }
}
