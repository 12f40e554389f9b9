//! Shared by all tests: the binary in its own home, the provider server, terminals and sample data.

#[cfg(unix)]
pub(crate) mod binary;
pub(crate) mod comparable;
pub(crate) mod comparison;
pub(crate) mod generated;
#[cfg(unix)]
pub(crate) mod git;
pub(crate) mod html;
pub(crate) mod journals;
#[cfg(unix)]
pub(crate) mod local_server;
#[cfg(unix)]
pub(crate) mod model_requests;
pub(crate) mod network;
pub(crate) mod provider_server;
#[cfg(unix)]
pub(crate) mod pty;
#[cfg(unix)]
pub(crate) mod question_screens;
pub(crate) mod sample_events;
#[cfg(unix)]
pub(crate) mod sample_results;
#[cfg(unix)]
pub(crate) mod saved;
#[cfg(unix)]
pub(crate) mod schema;
#[cfg(unix)]
pub(crate) mod screen;
pub(crate) mod simulated_batches;
pub(crate) mod simulated_loops;
pub(crate) mod source_tree;
#[cfg(unix)]
pub(crate) mod steady_text;
pub(crate) mod timeout;
pub mod script;

/// Returns the record of a consultation as JSON.
pub(crate) fn record_json(
    transcript: &conclave::consultation::transcript::Transcript,
) -> serde_json::Value {
    serde_json::to_value(transcript.stored_record()).unwrap()
}
