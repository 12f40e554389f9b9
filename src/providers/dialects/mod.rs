//! The wire formats, one module each, and the decoder that chooses among them.

pub mod anthropic;
pub mod openai;
pub mod responses;
pub mod gemini;
pub mod ollama;
pub mod partial_reply;
pub mod reported_cost;
pub mod decoder;
