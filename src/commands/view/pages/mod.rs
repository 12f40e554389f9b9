//! The pages of figures: statistics, benchmark runs, refinements and comparisons. Each reads what
//! it is about, and has it made into a document where the reports of its subject are.

pub(super) mod statistics;
pub(super) mod benchmarks;
pub(super) mod refinements;
pub(super) mod comparison;

use std::path::PathBuf;

use super::site::{Live, Page, Reply};
use crate::terminal::document::Part;

/// A page of the one in the navigation. It stays as it is, or follows these files.
fn reply(
    current: &'static str,
    title: impl Into<String>,
    parts: Vec<Part>,
    files: Vec<PathBuf>,
) -> Reply {
    let version = None;
    Reply::Page(Page {
        title: title.into(),
        current,
        parts,
        live: (!files.is_empty()).then_some(Live { version, files }),
        ..Page::default()
    })
}
