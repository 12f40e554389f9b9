//! Consultations, benchmarks and refinements as documents: what a person reads, on screen, in the
//! log and as a page. Pure, and made from the record alone, so that a past consultation reads as it
//! did when it was answered.

mod consultation;
mod selection;
mod summary;
pub mod benchmark;
pub mod refinement;
pub mod refinement_summary;
pub mod rejudge;
mod comparison;
mod rounds;
mod sections;
mod head;

pub use self::comparison::{comparison, comparisons};
pub use self::consultation::{page, page_beside, page_parts, report, running_parts};
pub use self::sections::confidence;
pub use self::selection::{ReportSelection, markdown};
pub use self::summary::{NextSteps, of_rejudgement, summary};
