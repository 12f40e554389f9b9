//! Refines a document: from a request to the templates of its consultations, and from these to a
//! document that has converged.
//!
//! What is next, and whether the loop is over, says the fold of the loop's log. This module asks,
//! writes the log, and writes the document.

pub(crate) mod request;
pub(crate) mod templates;
pub(crate) mod estimate;
pub(crate) mod earlier_spend;
pub(crate) mod progress;
pub(crate) mod driver;
