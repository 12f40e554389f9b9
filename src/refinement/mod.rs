//! L1: a document that a panel works on until it converges. Pure: its sections, items and tags and
//! where they stand; the questions that a panel gets and what is read from its answers; the edits
//! that follow, and the log of them.
//!
//! ```text
//! text ─► document ─► questions ─► (consultations) ─► findings ─► integration ─► changes + new text
//! ```
//!
//! A document belongs to the person who writes it. Only list items in the three sections move, only
//! tags and notes of this module are added, and only its own keys of the front matter are set:
//! every other byte stays as it is. When the work ends is decided by
//! [`crate::stopping::convergence`].

pub mod mask;
pub mod front_matter;
pub mod document;
pub mod batches;
pub mod request;
pub mod finding;
pub mod reading;
pub mod change;
pub mod event;
pub mod integration;
pub mod state;
pub mod check;
pub mod report;
