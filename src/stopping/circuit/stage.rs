//! The stages that all circuits share: closed, open, and half-open with one probe that expires.
//!
//! A circuit adds what it counts while it is closed (its window) and the reasons for which it
//! opens.
//!
//! Invariants: asking for a permit changes nothing; an open circuit grants nothing before its time;
//! at most one probe since it opened has a permit that has not expired.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

use super::state::Permit;

/// The stage of a circuit, with what it counts while it is closed and why it is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum CircuitStage<Window, Reason> {
    Closed {
        since: Timestamp,
        #[serde(flatten)]
        window: Window,
    },
    Open {
        since: Timestamp,
        until: Timestamp,
        why: Reason,
    },
    /// A probe went out. Until its permit expires, it is the only one.
    Probing {
        /// The start times of the first and the last probe since the circuit opened.
        first: Timestamp,
        last: Timestamp,
        /// The time from which another probe may go out.
        until: Timestamp,
        why: Reason,
    },
}

impl<Window: Default, Reason: Clone> Default for CircuitStage<Window, Reason> {
    /// Closed since 1970, so that every first call counts.
    fn default() -> Self {
        Self::closed(Timestamp::default())
    }
}

impl<Window: Default, Reason: Clone> CircuitStage<Window, Reason> {
    pub fn closed(since: Timestamp) -> Self {
        Self::Closed {
            since,
            window: Window::default(),
        }
    }

    pub fn open(&mut self, why: Reason, rest: Duration, now: Timestamp) {
        *self = Self::Open {
            since: now,
            until: now.after(rest),
            why,
        };
    }

    /// [`Self::begin`] takes the permit.
    pub fn permit(&self, now: Timestamp) -> Permit {
        match self {
            Self::Closed { .. } => Permit::Granted,
            Self::Open { until, .. } | Self::Probing { until, .. } if now < *until => {
                Permit::Refused { until: *until }
            }
            Self::Open { .. } | Self::Probing { .. } => Permit::Probe,
        }
    }

    /// A probe's permit expires after `lifetime`.
    pub fn begin(&mut self, lifetime: Duration, now: Timestamp) -> Permit {
        let permit = self.permit(now);
        if permit == Permit::Probe {
            let until = now.after(lifetime);
            match self {
                Self::Closed { .. } => {}
                Self::Open { why, .. } => {
                    *self = Self::Probing {
                        first: now,
                        last: now,
                        until,
                        why: why.clone(),
                    };
                }
                Self::Probing {
                    last,
                    until: expires,
                    ..
                } => (*last, *expires) = (now, until),
            }
        }
        permit
    }

    /// Returns the window that counts a result of what began at `began`: that of a closed circuit,
    /// unless it began before the circuit closed.
    pub fn window_at(&mut self, began: Timestamp) -> Option<&mut Window> {
        match self {
            Self::Closed { since, window } if began >= *since => Some(window),
            Self::Closed { .. } | Self::Open { .. } | Self::Probing { .. } => None,
        }
    }

    /// Records that what began at `began` succeeded, which closes a circuit that is not closed. So
    /// does any probe, even after its permit expired, and what went out while the circuit was open.
    pub fn succeeded(&mut self, began: Timestamp, now: Timestamp) {
        let closes = match self {
            Self::Closed { .. } => false,
            Self::Probing { first, .. } => began >= *first,
            Self::Open { since, .. } => began > *since,
        };
        if closes {
            *self = Self::closed(now);
        }
    }

    /// Returns whether the failure of what began at `began` opens a half-open circuit again. Of
    /// several probes, the last one decides.
    pub fn is_last_probe(&self, began: Timestamp) -> bool {
        match self {
            Self::Probing { last, .. } => began >= *last,
            Self::Closed { .. } | Self::Open { .. } => false,
        }
    }

    /// Records that what began at `began` was dropped, which says nothing. A probe's permit is
    /// returned.
    pub fn abandoned(&mut self, began: Timestamp) {
        if let Self::Probing { last, until, .. } = self
            && began >= *last
        {
            *until = *last;
        }
    }
    /// Moves all moments back, as the clock went back by that much.
    pub fn move_back(&mut self, by: Duration) {
        match self {
            Self::Closed { since, .. } => *since = since.before(by),
            Self::Open { since, until, .. } => {
                (*since, *until) = (since.before(by), until.before(by));
            }
            Self::Probing {
                first, last, until, ..
            } => {
                (*first, *last) = (first.before(by), last.before(by));
                *until = until.before(by);
            }
        }
    }
}
