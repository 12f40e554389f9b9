//! Failing vendors: how often a call is retried, which answers remain, and what the user reads.

mod degradation;
mod experts;
mod failure_table;
mod judges;
mod fallbacks;
mod faults;
mod retries;

use crate::support::provider_server::Answer;

const UNAUTHORIZED: &str = r#"{"type": "error", "error": {"type": "authentication_error", "message": "this key was withdrawn"}}"#;

/// Rejects the key.
pub(crate) fn unauthorized() -> Answer {
    Answer::http(401, "application/json", UNAUTHORIZED)
}
