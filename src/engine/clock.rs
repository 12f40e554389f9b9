//! The only clock: UTC at the start, and from there the runtime's own monotonic time, so that a
//! run's times never go backwards and tests can pause them.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::time::Timestamp;

/// The clock of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    started: Timestamp,
    at: Instant,
}

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the clock"
    )]
    pub fn system() -> Self {
        let since_epoch = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Self::starting(Timestamp(0).after(since_epoch))
    }

    pub fn starting(started: Timestamp) -> Self {
        Self {
            started,
            at: Instant::now(),
        }
    }

    /// Returns this clock, or one that starts at `moment` if this one is behind: the system's time
    /// may have been set back.
    #[must_use]
    pub fn not_before(self, moment: Timestamp) -> Self {
        if self.now() < moment {
            Self::starting(moment)
        } else {
            self
        }
    }

    pub fn now(&self) -> Timestamp {
        self.started.after(self.at.elapsed())
    }

    pub fn instant(&self, moment: Timestamp) -> Instant {
        self.at + moment.since(self.started)
    }
}
