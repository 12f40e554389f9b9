//! Reads findings from answers. Lenient in form, strict in meaning: nothing is guessed.
//!
//! ```text
//! text ─► lines (JSON, tables, quotes) ─► segments (a label with its text) ─► findings
//! ```
//!
//! - A label of a question or claim that was not asked, a repeated instruction and an empty answer
//!   are no findings.
//! - Two different answers to a question, or an answer and an open question, leave it unread.
//! - An answer without any label counts where one question was asked and it plainly states
//!   something, at an unknown confidence.
//! - What an answer quotes is not stated by it, unless it consists of nothing else.

mod lines;
mod json;
mod table;
mod segments;
mod content;
mod answer;
mod unlabelled;
pub mod record;
pub mod extraction;

pub use answer::read_answer;
pub use extraction::{ExtractedItems, ExtractionError, extracted_items, read_extraction};
pub use record::findings_of;

#[cfg(test)]
mod tests;
