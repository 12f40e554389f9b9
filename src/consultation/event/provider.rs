//! `provider:…`: a provider that asks for a pause.

use serde::{Deserialize, Serialize};

use crate::domain::ids::ProviderId;

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
    },
}
