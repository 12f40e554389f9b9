//! L3: models to ask. Codecs are pure translation between our words and a vendor's; [`http`] alone
//! speaks HTTP for all of them.
//!
//! Whether a failed call is made again is not decided here: a provider makes one call and says what
//! came of it.

pub mod anthropic;
pub mod catalog;
mod clients;
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
