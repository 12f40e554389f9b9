//! Tests of the embedded local model: getting its file, and, where this build has the engine and the machine has a model, asking it.

#[cfg(feature = "local")]
mod engine;
mod hub;
#[cfg(feature = "local")]
mod wheels;
