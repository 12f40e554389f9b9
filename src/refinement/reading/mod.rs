//! Reads findings from answers. Nothing is guessed: a question without a readable answer stays
//! open.
//!
//! - An answer about a question or claim that was not asked, and one that says nothing, is none.
//! - Experts that answer a question in different ways leave it unread.

mod answer;
pub mod record;
pub mod extraction;

pub use extraction::{ExtractedItems, extracted_items};
pub use record::findings_of;

#[cfg(test)]
mod tests;
