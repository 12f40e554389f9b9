//! The embedded local model: its files and their download (always compiled), and the engine that
//! runs them (feature `local`: it is C++ and takes minutes to build).
//!
//! ```text
//! manifest ─ home ─ choice ─ pull ─ sources/{hub, wheels}        files
//! provider ─▶ worker ─▶ steps ─▶ guide                  one thread: asks in, answers out
//!               ├─ slots      what is in memory, what is shared
//!               ├─ chat       prompt to tokens
//!               ├─ schema     the answer's schema, made tight
//!               └─ cut        texts that reached its limits, made whole
//! ```

pub mod files;
pub mod cpu;
pub mod schema;
pub mod cut;
pub mod slots;

#[cfg(feature = "local")]
pub mod job;
#[cfg(feature = "local")]
pub mod provider;

#[cfg(feature = "local")]
mod chat;
#[cfg(feature = "local")]
mod guide;
#[cfg(feature = "local")]
mod steps;
#[cfg(feature = "local")]
mod worker;

/// The label of the embedded model wherever it appears.
pub const LABEL: &str = "local model, demonstration quality";

/// The error of a build without the engine for local models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("built without the local model; `cargo build --release --features local` builds it in")]
pub struct NotBuiltInError;

pub fn built_in() -> Result<(), NotBuiltInError> {
    cfg!(feature = "local").then_some(()).ok_or(NotBuiltInError)
}
