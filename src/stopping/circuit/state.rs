//! The visible state of a circuit: permits, states and the reasons for opening.

use std::fmt;

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
