//! Rules that stop asking a panel, measured on recorded answers: how often each is right, how many
//! answers it asks for, and what it changes against the vote of all.

pub mod report;
mod measure;

pub use measure::measure;
