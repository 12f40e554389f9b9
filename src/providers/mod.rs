//! L3: the providers of models. Codecs are pure translation between our types and a vendor's
//! format; [`http`] alone speaks HTTP for all of them.
//!
//! Retries are not decided here: a provider makes one call and returns its outcome.

pub mod anthropic;
pub mod catalog;
mod clients;
pub mod decoder;
pub mod discovery;
pub mod errors;
pub mod form;
pub mod partial_reply;
pub mod gemini;
pub mod http;
pub mod model_list;
pub mod local;
pub mod ollama;
pub mod openai;
mod delta_redactor;
pub mod remote;
pub mod reported_cost;
pub mod sse;
pub mod wire;
mod wording;
