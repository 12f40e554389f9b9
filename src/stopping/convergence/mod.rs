//! Decides when the refinement of a document ends: its open questions no longer change, few are
//! left, or most of its claims are of high confidence.
//!
//! The policy takes one [`DocumentMeasure`] for each iteration, in order, and returns an
//! [`Evaluation`](super::evaluation::Evaluation). It knows no documents, panels or files.

pub mod criteria;
pub mod measure;

pub use self::criteria::{Criteria, Preset, RuleSet, StableBy};
pub use self::measure::{DocumentMeasure, ItemCounts, QuestionKey};
