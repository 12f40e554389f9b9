//! The circuit breaker: stops calls to a provider that keeps failing, and lets one probe out after
//! a rest before calls resume.
//!
//! ```text
//! Closed ──too many failures──► Open ──rested: one probe goes out──► HalfOpen ──it succeeds──► Closed
//!                                 ▲                                    │
//!                                 └────────────── it fails ────────────┘
//! ```
//!
//! Results are counted in a sliding window of the last [`CircuitRule::of_at_least`] calls: by
//! number and not by time, because calls of a model are few and may take minutes. Every result
//! carries the start time of its call. Results of calls that began before the circuit last opened
//! or closed are ignored; slow calls make such stragglers common.
//!
//! The stages are in [`stage`]. The breaker of an agent's loop
//! ([`crate::stopping::exit_check::breaker`]) has the same stages and other windows.

pub mod state;
pub mod stage;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

use stage::CircuitStage;
use state::CallWindow;
use state::CircuitRule;
use state::{CircuitState, Permit, WhyOpen};

/// The circuit of one provider; initially closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Circuit(CircuitStage<CallWindow, WhyOpen>);

impl Circuit {
    /// [`Self::begin`] takes the permit.
    pub fn permit(&self, now: Timestamp) -> Permit {
        self.0.permit(now)
    }

    /// Takes and returns the permit for a call, if it is granted.
    pub fn begin(&mut self, rule: &CircuitRule, now: Timestamp) -> Permit {
        self.0.begin(rule.permit, now)
    }

    /// Records the success of a call that began at `began`. The success of any probe closes the
    /// circuit, even after its permit expired; so does that of a call that went out while the
    /// circuit was open.
    pub fn succeeded(&mut self, rule: &CircuitRule, began: Timestamp, now: Timestamp) {
        match self.0.window_at(began) {
            Some(window) => window.succeeded(rule),
            None => self.0.succeeded(began, now),
        }
    }

    /// Of several probes, the last one decides.
    pub fn failed(&mut self, rule: &CircuitRule, began: Timestamp, now: Timestamp) {
        let why = match self.0.window_at(began) {
            Some(window) => window.failed(rule),
            None => self.0.is_last_probe(began).then_some(WhyOpen::ProbeFailed),
        };
        if let Some(why) = why {
            self.0.open(why, rule.rest, now);
        }
    }

    /// Records that a call that began at `began` was dropped, which says nothing about the
    /// provider. A probe's permit is returned.
    pub fn abandoned(&mut self, began: Timestamp) {
        self.0.abandoned(began);
    }

    /// Takes over the state of the same provider's circuit in another process.
    pub fn learn(&mut self, state: CircuitState, now: Timestamp) {
        match state {
            CircuitState::Open { until, why } => self.0.open(why, until.since(now), now),
            CircuitState::Closed if matches!(self.0, CircuitStage::Closed { .. }) => {}
            CircuitState::Closed => *self = Self(CircuitStage::closed(now)),
            // Who probes tells what comes of it.
            CircuitState::HalfOpen { .. } => {}
        }
    }

    pub fn state(&self, now: Timestamp) -> CircuitState {
        match &self.0 {
            CircuitStage::Closed { .. } => CircuitState::Closed,
            CircuitStage::Open { until, why, .. } if now < *until => CircuitState::Open {
                until: *until,
                why: *why,
            },
            CircuitStage::Open { why, .. } | CircuitStage::Probing { why, .. } => {
                CircuitState::HalfOpen { why: *why }
            }
        }
    }
}
