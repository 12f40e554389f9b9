//! The labels of an answer's lines: `Q1 ANSWERED:`, `C2 CONTRADICTED:`, `NEW BLOCKER:`. Their forms
//! as they are asked for, and as models write them.
//!
//! - A number is a question's or a claim's, from 1.
//! - Markdown around a label or within it, brackets, full-width letters and several separators are
//!   the same label. In capitals it needs no colon; otherwise it does, or ends its line.
//! - With a mark, only labels that have it are labels.

pub mod form;
pub mod mark;
mod cursor;
mod parse;

pub use parse::{Label, LabelMatch, LabelOutcome, LabelSyntax, Matter, has_label};
pub(in crate::refinement) use parse::{label_at, matters, outcome_at, starts_of_words};
