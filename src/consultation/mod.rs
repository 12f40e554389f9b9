//! L1: the pipeline, pure.
pub mod answer;
pub mod call;
pub mod event;
pub mod labels;
pub mod problem;
pub mod prompt;
pub mod reading;
pub mod transcript;
