//! The words of the questions that a person is asked, one file for each question. Pure; `person`
//! puts them and handles the answers. A question ends in its prompt, without an end of line.

pub(in crate::terminal) mod consent;
pub(in crate::terminal) mod threshold;
pub(in crate::terminal) mod early_termination;
pub(in crate::terminal) mod pulse;
pub(in crate::terminal) mod substitution;
