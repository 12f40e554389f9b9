//! The consultations before and after this one in a conversation: ids, and links to the pages that
//! lie in the folder of this page.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::elements::inline;
use crate::domain::stored_record::StoredRecord;

/// Names the consultation that this one follows up, and those that follow it up.
pub(super) fn links(record: &StoredRecord, pages: &BTreeSet<String>) -> Markup {
    let follow_ups = record.follow_ups.as_slice();
    html! {
        @if let Some(earlier) = &record.follow_up_of {
            p.quiet { "Follows up " (link(earlier, pages)) }
        }
        @if !follow_ups.is_empty() {
            p.quiet {
                "Followed up by "
                @for (at, later) in follow_ups.iter().enumerate() {
                    @if at > 0 { ", " }
                    (link(later, pages))
                }
            }
        }
    }
}

fn link(id: &str, pages: &BTreeSet<String>) -> Markup {
    html! {
        @if pages.contains(id) {
            a href=(format!("{id}.html")) { (inline(id)) }
        } @else {
            (inline(id))
        }
    }
}
