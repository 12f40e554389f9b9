//! Tests of the prompts and of reading the answers.

mod corpus;
mod findings;
mod panel;
mod prompts;
mod properties;
mod rendered;
mod size;
mod valid_answers;
