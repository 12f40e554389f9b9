//! The fleet: consultations of a run on many machines, by way of a NATS server with `JetStream`.
//!
//! The server has the queue of jobs, the journals, the ledger and what workers tell each other. The
//! truth of a job is its journal, a subject of a stream that only a writer that knows its last
//! sequence appends to ([`journal`]); the truth of money is the ledger, changed by compare-and-set
//! ([`ledger`]). Nothing here runs a consultation, and nothing here knows a key.
//!
//! Invariants: a call is reserved in every account of its run, and its start is in its journal,
//! before it goes out. Of two workers that have one job, only the last to claim it appends.

pub mod names;
pub mod bucket;
pub mod job;
pub mod account;
pub mod link;
pub mod journal;
pub mod ledger;
pub mod queue;
pub mod limits;

use std::error::Error;

/// The reason why something of the fleet cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The server refused something, or did not answer: it may do it later.
    #[error("{what}")]
    Server {
        what: String,
        source: Box<dyn Error + Send + Sync>,
    },
    /// It is wrong however often it is tried.
    #[error("{0}")]
    Wrong(String),
}

impl FleetError {
    /// What someone stored on the server is not what this program stores.
    fn unreadable(what: &str, why: &dyn ToString) -> Self {
        let why = why.to_string();
        Self::Wrong(format!("{what} on the server cannot be read: {why}"))
    }
}

/// Says of a failed request what it was for.
trait OrRefused<T> {
    fn or_refused(self, what: &str) -> Result<T, FleetError>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> OrRefused<T> for Result<T, E> {
    fn or_refused(self, what: &str) -> Result<T, FleetError> {
        self.map_err(|error| FleetError::Server {
            what: format!("the NATS server could not {what}"),
            source: error.into(),
        })
    }
}
