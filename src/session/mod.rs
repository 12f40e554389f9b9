//! L4: runs one consultation from its plan to its files and its outcome.

pub(crate) mod run;
pub(crate) mod finish;
mod abort_error;
pub(crate) mod write_answer;
pub(crate) mod find;
pub(crate) mod index;
