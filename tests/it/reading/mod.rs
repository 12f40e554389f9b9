//! Tests of what models are asked, and of how their answers are read.

mod prompts;
