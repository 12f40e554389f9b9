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
pub mod job;
pub mod account;
pub mod link;
pub mod journal;
pub mod ledger;
pub mod queue;
pub mod roll;
pub mod limits;
pub mod submission;

use std::error::Error;

/// The reason why something of the fleet cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("{0}")]
    Address(String),
    #[error("cannot connect to the NATS server at {address}")]
    Connect {
        address: String,
        source: Box<dyn Error + Send + Sync>,
    },
    /// The server refused something, or did not answer.
    #[error("the NATS server could not {what}")]
    Server {
        what: &'static str,
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("`{0}` cannot be a name on a fleet: only letters, digits, `-` and `_` can")]
    Name(String),
    #[error("{0} is too large for the fleet")]
    TooLarge(&'static str),
    /// What someone stored on the server is not what this program stores.
    #[error("{what} on the server cannot be read: {why}")]
    Unreadable { what: &'static str, why: String },
    #[error(transparent)]
    Job(#[from] job::JobError),
    /// A worker says why no worker does a job.
    #[error("the workers refuse the job: {0}")]
    Refused(String),
}

impl FleetError {
    fn unreadable(what: &'static str, why: &dyn ToString) -> Self {
        let why = why.to_string();
        Self::Unreadable { what, why }
    }
}

/// Says of a failed request what it was for.
trait OrRefused<T> {
    fn or_refused(self, what: &'static str) -> Result<T, FleetError>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> OrRefused<T> for Result<T, E> {
    fn or_refused(self, what: &'static str) -> Result<T, FleetError> {
        self.map_err(|error| {
            let source = error.into();
            FleetError::Server { what, source }
        })
    }
}
