//! L1: the pipeline, pure.
pub mod answer;
pub mod call;
pub mod digest;
pub mod event;
pub mod problem;
pub mod transcript;
