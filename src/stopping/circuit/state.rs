//! The visible state of a circuit: its rule, its window of calls, permits, states and the reasons
//! for opening.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;

/// The decision whether a call may go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    Granted,
    /// Granted alone, to see whether it works again.
    Probe,
    /// Refused until this moment.
    Refused {
        until: Timestamp,
    },
}

/// The state of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CircuitState {
    Closed,
    Open {
        until: Timestamp,
        why: WhyOpen,
    },
    /// After the rest: a probe may go out or is in flight.
    HalfOpen {
        why: WhyOpen,
    },
}

/// The reason why a circuit opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum WhyOpen {
    Consecutive {
        failures: u32,
    },
    Share {
        failures: u32,
        of: u32,
    },
    /// The probe after the rest failed.
    ProbeFailed,
}

impl fmt::Display for WhyOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Consecutive { failures } => write!(f, "{failures} calls in a row failed"),
            Self::Share { failures, of } => write!(f, "{failures} of the last {of} calls failed"),
            Self::ProbeFailed => f.write_str("the probe call failed too"),
        }
    }
}

/// Conditions under which a circuit opens, and the length of its rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitRule {
    /// Opens after this many failures in a row.
    pub consecutive: u32,
    /// Opens when this percentage of the last `of_at_least` calls failed.
    pub share_percent: u32,
    /// The length of the window; `share_percent` needs this many results.
    pub of_at_least: u32,
    /// The time after which an open circuit allows a probe.
    pub rest: Duration,
    /// The time after which a probe without a result is given up and another one may go out.
    pub permit: Duration,
}

impl Default for CircuitRule {
    /// 3 in a row, or half of the last 10; 30 s of rest. A probe without a result for 2 minutes
    /// counts as lost: calls time out after such a silence.
    fn default() -> Self {
        Self {
            consecutive: 3,
            share_percent: 50,
            of_at_least: 10,
            rest: Duration::from_secs(30),
            permit: Duration::from_secs(120),
        }
    }
}

/// The last results of calls while the circuit is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWindow {
    /// Failures since the last success.
    in_a_row: u32,
    /// The last results, the oldest first.
    results: VecDeque<CallResult>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CallResult {
    Success,
    Failure,
}

impl CallWindow {
    pub(super) fn succeeded(&mut self, rule: &CircuitRule) {
        self.in_a_row = 0;
        self.remember(rule, CallResult::Success);
    }

    /// Records a failure and returns the reason for opening, if it is one too many.
    pub(super) fn failed(&mut self, rule: &CircuitRule) -> Option<WhyOpen> {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.remember(rule, CallResult::Failure);
        self.why_open(rule)
    }

    fn remember(&mut self, rule: &CircuitRule, result: CallResult) {
        self.results.push_back(result);
        let window = usize::try_from(rule.of_at_least).unwrap_or(usize::MAX);
        while self.results.len() > window {
            self.results.pop_front();
        }
    }

    fn why_open(&self, rule: &CircuitRule) -> Option<WhyOpen> {
        if self.in_a_row >= rule.consecutive {
            return Some(WhyOpen::Consecutive {
                failures: self.in_a_row,
            });
        }
        let is_failure = |result: &&CallResult| **result == CallResult::Failure;
        let failures = count(self.results.iter().filter(is_failure).count());
        let of = count(self.results.len());
        let too_many = u64::from(failures) * 100 >= u64::from(of) * u64::from(rule.share_percent);
        (of > 0 && of >= rule.of_at_least && too_many).then_some(WhyOpen::Share { failures, of })
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
