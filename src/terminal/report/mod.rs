//! A consultation as a Markdown document: what a person reads, on screen and in the log. Pure, and
//! made from the record alone, so that a past consultation reads as it did when it was answered.
//! Everything that a model wrote goes through `escape`, so that no answer can pass for another part
//! of the document.

mod consultation;
mod selection;
mod summary;
pub mod benchmark;
pub mod refinement;
pub mod rejudge;
mod rounds;
mod agents;
mod sections;
mod second_verdict;

pub use self::consultation::report;
pub use self::selection::{ReportSelection, markdown};
pub use self::summary::{NextSteps, Summary};
