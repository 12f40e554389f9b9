//! Failing vendors: how often a call is retried, which answers remain, and what the user reads.
//!
//! How each vendor's errors are read, when a call is repeated and which model takes over is tested
//! with the code that does it; these runs show that the parts are connected.

mod classes;
mod experts;
mod judges;
mod fallbacks;
mod slowness;

use serde_json::Value;

use crate::support::provider_server::Answer;

const UNAUTHORIZED: &str = r#"{"type": "error", "error": {"type": "authentication_error", "message": "this key was withdrawn"}}"#;

/// Rejects the key.
pub(crate) fn unauthorized() -> Answer {
    Answer::http(401, "application/json", UNAUTHORIZED)
}

/// Fails each time, with a short time to wait before the next attempt.
fn overloaded() -> Answer {
    Answer::error(529, "overloaded_error", "Overloaded").header("retry-after-ms", "1")
}

/// Returns the recorded calls of an agent in a round.
fn attempts<'a>(record: &'a Value, round: &str, agent: &str) -> &'a [Value] {
    let agents = record["responses"][round]["agents"].as_array().unwrap();
    let mut agents = agents.iter();
    let agent = agents.find(|entry| entry["agent_id"] == agent).unwrap();
    agent["attempts"].as_array().unwrap()
}

/// Returns a field of each call.
fn each<'a>(attempts: &'a [Value], pointer: &str) -> Vec<&'a Value> {
    let fields = attempts.iter().map(|attempt| attempt.pointer(pointer));
    fields.map(Option::unwrap).collect()
}
