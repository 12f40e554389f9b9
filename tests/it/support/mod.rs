//! Shared by all tests: the binary in its own home, the provider server, terminals and sample data.

pub(crate) mod binary;
pub(crate) mod comparable;
pub(crate) mod comparison;
pub(crate) mod generated;
pub(crate) mod git;
pub(crate) mod html;
pub(crate) mod in_flight;
pub(crate) mod journals;
pub(crate) mod local_server;
pub(crate) mod model_requests;
pub(crate) mod network;
pub(crate) mod provider_server;
pub(crate) mod pty;
pub(crate) mod question_screens;
pub(crate) mod sample_events;
pub(crate) mod sample_results;
pub(crate) mod saved;
pub(crate) mod schema;
pub(crate) mod screen;
pub(crate) mod simulated_batches;
pub(crate) mod simulated_loops;
pub(crate) mod source_tree;
pub(crate) mod steady_text;
pub(crate) mod timeout;
pub mod script;

/// Returns the record of a consultation as JSON.
pub(crate) fn record_json(
    transcript: &conclave::consultation::transcript::Transcript,
) -> serde_json::Value {
    serde_json::to_value(transcript.stored_record()).unwrap()
}
