//! Shared by all tests: the binary in its own home, the provider server, terminals and sample data.

pub(crate) mod binary;
pub(crate) mod chromium;
pub(crate) mod git;
#[cfg(feature = "fleet")]
pub(crate) mod nats;
pub(crate) mod pty;
pub mod script;
pub(crate) mod source_tree;
pub(crate) mod timeout;
pub(crate) mod visitor;

mod readers;
mod samples;
mod servers;

pub(crate) use readers::{
    comparable, html, in_flight, journals, model_requests, otlp, schema, screen, steady_text,
};
pub(crate) use samples::{
    comparison, filled_home, generated, sample_events, sample_results, sample_screens, saved,
    simulated_batches, simulated_loops,
};
pub(crate) use servers::{local_server, network, provider_server, trace_receiver};

use serde_json::{Value, json};

/// Returns the record of a consultation as JSON.
pub(crate) fn record_json(transcript: &conclave::consultation::transcript::Transcript) -> Value {
    serde_json::to_value(transcript.stored_record()).unwrap()
}

/// Returns a synthesis of one point, with this confidence and these supporters.
pub(crate) fn one_point(
    confidence: f64,
    supporters: &[&str],
    tensions: &Value,
) -> provider_server::Answer {
    let point = "Start small";
    let synthesis = json!({
        "consensus_points": [
            {"point": point, "supporting_agents": supporters, "confidence": confidence},
        ],
        "tensions": tensions,
        "priority_order": ["Speed"],
        "provisional_answer": {
            "answer": "Start small, with one team.",
            "confidence": 0.7,
            "would_change_it": "A fixed deadline",
        },
    });
    provider_server::Answer::text(synthesis.to_string())
}
