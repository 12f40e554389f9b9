//! `provider:…`: what the process observes of a provider in the calls of all its consultations.

use serde::{Deserialize, Serialize};

use crate::domain::ids::ProviderId;
use crate::stopping::circuit::state::CircuitState;

use super::call::is_zero;

/// What happens to all calls of one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum ProviderEvent {
    /// A provider asks for a pause: no call goes out to it before the time has passed.
    #[serde(rename = "provider:held")]
    Held {
        provider: ProviderId,
        /// Milliseconds until the next call may go out.
        wait_ms: u64,
        /// What the provider answered, for people.
        reason: String,
        /// Milliseconds for which it has answered nothing but rate limits.
        #[serde(default, skip_serializing_if = "is_zero")]
        refused_ms: u64,
    },
    /// The provider's circuit has opened, is being probed, or has closed.
    #[serde(rename = "provider:circuit_changed")]
    CircuitChanged {
        provider: ProviderId,
        circuit: CircuitState,
        /// Milliseconds until it is worth calling again; `None` when it is worth calling now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait_ms: Option<u64>,
    },
    /// The provider has refused the key or asked for payment, or has accepted it since.
    #[serde(rename = "provider:key_changed")]
    KeyChanged {
        provider: ProviderId,
        is_refused: bool,
    },
}
