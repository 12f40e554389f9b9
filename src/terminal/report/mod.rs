//! A consultation as a Markdown document: what a person reads, on screen and in the log. Pure.
//! Everything that a model wrote goes through `escape`, so that no answer can pass for another part
//! of the document.

mod transcript;
pub mod stored;
pub mod rejudge;
mod sections;
mod debate_value;
mod second_verdict;

pub use self::transcript::report;
