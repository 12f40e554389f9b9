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
//! Invariants: asking for a permit changes nothing; an open circuit grants nothing before its time;
//! at most one probe since it opened has a permit that has not expired.

pub mod rule;
pub mod state;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

use rule::CircuitRule;
use state::{CircuitState, Permit, WhyOpen};

/// One circuit; initially closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Circuit(CircuitStage);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
enum CircuitStage {
    Closed {
        since: Timestamp,
        /// Failures since the last success.
        in_a_row: u32,
        /// The last results, the oldest first.
        results: VecDeque<CallResult>,
    },
    Open {
        since: Timestamp,
        until: Timestamp,
        why: WhyOpen,
    },
    Probing {
        /// The start times of the first and the last probe since the circuit opened.
        first: Timestamp,
        last: Timestamp,
        /// The time from which another probe may go out.
        until: Timestamp,
        why: WhyOpen,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CallResult {
    Success,
    Failure,
}

impl Circuit {
    /// Returns whether a call may go out now. [`Self::begin`] takes the permit.
    pub fn permit(&self, now: Timestamp) -> Permit {
        match &self.0 {
            CircuitStage::Closed { .. } => Permit::Granted,
            CircuitStage::Open { until, .. } | CircuitStage::Probing { until, .. }
                if now < *until =>
            {
                Permit::Refused { until: *until }
            }
            CircuitStage::Open { .. } | CircuitStage::Probing { .. } => Permit::Probe,
        }
    }

    /// Takes and returns the permit for a call, if it is granted.
    pub fn begin(&mut self, rule: &CircuitRule, now: Timestamp) -> Permit {
        let permit = self.permit(now);
        if permit == Permit::Probe {
            let until = now.after(rule.permit);
            match &mut self.0 {
                CircuitStage::Closed { .. } => {}
                CircuitStage::Open { why, .. } => {
                    self.0 = CircuitStage::Probing {
                        first: now,
                        last: now,
                        until,
                        why: *why,
                    }
                }
                CircuitStage::Probing {
                    last,
                    until: expires,
                    ..
                } => (*last, *expires) = (now, until),
            }
        }
        permit
    }

    /// Records the success of a call that began at `began`. The success of any probe closes the
    /// circuit, even after its permit expired; so does that of a call that went out while the
    /// circuit was open.
    pub fn succeeded(&mut self, rule: &CircuitRule, began: Timestamp, now: Timestamp) {
        let closes = match &mut self.0 {
            CircuitStage::Closed {
                since,
                in_a_row,
                results,
            } => {
                if began >= *since {
                    *in_a_row = 0;
                    remember(results, rule, CallResult::Success);
                }
                false
            }
            CircuitStage::Probing { first, .. } => began >= *first,
            CircuitStage::Open { since, .. } => began > *since,
        };
        if closes {
            self.0 = CircuitStage::closed(now);
        }
    }

    /// Records the failure of a call that began at `began`. Of several probes, the last one
    /// decides.
    pub fn failed(&mut self, rule: &CircuitRule, began: Timestamp, now: Timestamp) {
        let why = match &mut self.0 {
            CircuitStage::Closed {
                since,
                in_a_row,
                results,
            } if began >= *since => {
                *in_a_row = in_a_row.saturating_add(1);
                remember(results, rule, CallResult::Failure);
                why_open(rule, *in_a_row, results)
            }
            CircuitStage::Probing { last, .. } if began >= *last => Some(WhyOpen::ProbeFailed),
            CircuitStage::Closed { .. }
            | CircuitStage::Open { .. }
            | CircuitStage::Probing { .. } => None,
        };
        if let Some(why) = why {
            self.0 = CircuitStage::Open {
                since: now,
                until: now.after(rule.rest),
                why,
            };
        }
    }

    /// Records that a call that began at `began` was dropped, which says nothing about the
    /// provider. A probe's permit is returned.
    pub fn abandoned(&mut self, began: Timestamp) {
        if let CircuitStage::Probing { last, until, .. } = &mut self.0
            && began >= *last
        {
            *until = *last;
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

fn remember(results: &mut VecDeque<CallResult>, rule: &CircuitRule, result: CallResult) {
    results.push_back(result);
    let window = usize::try_from(rule.of_at_least).unwrap_or(usize::MAX);
    while results.len() > window {
        results.pop_front();
    }
}

fn why_open(rule: &CircuitRule, in_a_row: u32, results: &VecDeque<CallResult>) -> Option<WhyOpen> {
    if in_a_row >= rule.consecutive {
        return Some(WhyOpen::Consecutive { failures: in_a_row });
    }
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let (failures, of) = (
        count(
            results
                .iter()
                .filter(|result| **result == CallResult::Failure)
                .count(),
        ),
        count(results.len()),
    );
    let too_many = u64::from(failures) * 100 >= u64::from(of) * u64::from(rule.share_percent);
    (of > 0 && of >= rule.of_at_least && too_many).then_some(WhyOpen::Share { failures, of })
}

impl CircuitStage {
    fn closed(since: Timestamp) -> Self {
        Self::Closed {
            since,
            in_a_row: 0,
            results: VecDeque::new(),
        }
    }
}

impl Default for CircuitStage {
    fn default() -> Self {
        // Since 1970, so that every first call counts.
        Self::closed(Timestamp::default())
    }
}
