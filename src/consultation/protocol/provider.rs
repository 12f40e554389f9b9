//! Changes of a provider, reported by the process, which observes them for all its consultations.

use serde::{Deserialize, Serialize};

use crate::domain::ids::ProviderId;
use crate::domain::time::Timestamp;
use crate::stopping::circuit::state::CircuitState;

/// A change of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderUpdate {
    pub provider: ProviderId,
    pub change: ProviderChange,
}

/// The kind of change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderChange {
    /// The provider asks for a backoff: no call goes out to it before the time has passed.
    Backoff(Backoff),
    /// The provider's circuit has opened, is being probed, or has closed.
    Circuit {
        state: CircuitState,
        /// The time from which calls are useful again; `None` if they are useful now.
        until: Option<Timestamp>,
    },
    /// The provider has refused the key or asked for payment, or has accepted the key since.
    Key { is_refused: bool },
}

/// A backoff that a provider asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backoff {
    pub until: Timestamp,
    /// The provider's message.
    pub reason: String,
    /// The time since which it has answered only with rate limits.
    pub since: Timestamp,
}

impl ProviderChange {
    /// Maps every moment in the update: the machine may use another clock.
    pub fn map_moments(&mut self, map: impl Fn(Timestamp) -> Timestamp) {
        match self {
            Self::Backoff(backoff) => {
                backoff.until = map(backoff.until);
                backoff.since = map(backoff.since);
            }
            Self::Circuit { until, .. } => *until = until.map(map),
            Self::Key { .. } => {}
        }
    }
}
