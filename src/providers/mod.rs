//! L3: the providers of models. Codecs are pure translation between our types and a vendor's
//! format; [`http`] alone speaks HTTP for all of them.
//!
//! Retries are not decided here: a provider makes one call and returns its outcome.

pub mod dialects;
pub mod catalog;
mod clients;
pub mod discovery;
pub mod errors;
pub mod form;
pub mod http;
pub mod model_list;
pub mod local;
pub mod chatgpt;
pub mod programs;
pub mod remote;
pub mod wire;
