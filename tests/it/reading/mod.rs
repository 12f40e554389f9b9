//! Tests of what models are asked, and of how their answers are read.

mod corpus;
mod panel;
mod prompts;
mod properties;
mod rendered;
mod size;
mod valid_answers;
