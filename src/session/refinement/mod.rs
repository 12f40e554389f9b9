//! Refines a document: from a request to the templates of its consultations, and from these to a
//! document that has converged.
//!
//! The fold of the loop's log says what is next and whether the loop is over. This module asks,
//! writes the log, and writes the document.

pub mod request;
pub mod templates;
pub mod estimate;
pub mod earlier_spend;
pub mod progress;
pub mod driver;
