//! Logs of events, and the states that follow from them.

use std::error::Error;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::time::Timestamp;

/// The version of a log's events. It changes when older programs cannot read them.
pub const SCHEMA_VERSION: u32 = 1;

/// An event as one line of a log has it.
pub trait LogLine: Serialize + DeserializeOwned {
    /// The only version that is read.
    fn schema_version() -> Value;
}

/// A state that is the fold of a log. Pure: whatever is live decides from the same state that a
/// replay of the log gives.
pub trait Fold: Sized {
    type Event: LogLine;
    type Error: Error + Send + Sync + 'static;

    /// Begins with the first event of a log.
    fn begin(event: &Self::Event) -> Result<Self, Self::Error>;

    /// Adds the next event of the log.
    ///
    /// # Errors
    ///
    /// When the event cannot follow; nothing changes then.
    fn apply(&mut self, event: &Self::Event) -> Result<(), Self::Error>;
}

/// Something that happened, with its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEvent<K> {
    pub schema_version: u32,
    pub time: Timestamp,
    #[serde(flatten)]
    pub kind: K,
}

impl<K> LogEvent<K> {
    pub fn new(time: Timestamp, kind: K) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            time,
            kind,
        }
    }
}

impl<K: Serialize + DeserializeOwned> LogLine for LogEvent<K> {
    fn schema_version() -> Value {
        SCHEMA_VERSION.into()
    }
}
