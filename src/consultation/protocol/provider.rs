//! Changes of a provider that the process reports to the machine; it observes them for all its
//! consultations.

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

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderChange {
    /// It asks for a backoff: no call goes out to it before the time has passed.
    Backoff(Backoff),
    /// Its circuit has opened, is being probed, or has closed.
    Circuit {
        state: CircuitState,
        /// Not worth calling until then; `None` when it is worth calling now.
        until: Option<Timestamp>,
    },
    /// It has refused the key or asked for payment, or has accepted it since.
    Key { is_refused: bool },
}

/// A backoff that a provider asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backoff {
    pub until: Timestamp,
    /// The provider's words.
    pub reason: String,
    /// Since when it has answered nothing but rate limits.
    pub since: Timestamp,
}

impl ProviderChange {
    /// Maps every moment in it: the machine may use another clock.
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
