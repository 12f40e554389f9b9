//! Stores the refinement of a document.

mod spec_file;

pub use spec_file::{SpecFile, SpecFileError};
