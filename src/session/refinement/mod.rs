//! Refines a document: from a request to the templates of its consultations, and from these to a
//! document that has converged.
//!
//! What is next, and whether the loop is over, says the fold of the loop's log. This module asks,
//! writes the log, and writes the document.

pub mod request;
pub mod templates;
pub mod estimate;
pub mod earlier_spend;
pub mod progress;
pub mod driver;
