//! Reads and edits a document by its bytes: front matter, the three sections, their items and tags.

pub mod item;

pub use self::item::{SectionKind, Tag};
