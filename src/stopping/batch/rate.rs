//! A share of items, exact to the millionth.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::stopping::evaluation::{MILLION, Value};

/// A share from 0 to 1, in whole millionths, so that it compares as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate {
    millionths: u64,
}

impl Rate {
    pub const fn percent(percent: u64) -> Self {
        Self {
            millionths: percent * (MILLION / 100),
        }
    }

    /// Returns the nearest whole millionth; `None` for numbers outside 0–1 and for NaN.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to a million"
    )]
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then(|| Self {
            millionths: (share * 1e6).round() as u64,
        })
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a whole number from 0 to a million"
    )]
    pub fn share(self) -> f64 {
        self.millionths as f64 / MILLION as f64
    }

    pub(super) fn millionths(self) -> u64 {
        self.millionths
    }

    pub(super) fn value(self) -> Value {
        Value::Share {
            part: self.millionths,
            of: MILLION,
        }
    }
}

/// Shows the decimal fraction: `0.3`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.share().fmt(f)
    }
}

impl Serialize for Rate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.share().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let share = f64::deserialize(deserializer)?;
        Self::new(share)
            .ok_or_else(|| serde::de::Error::custom(format!("rate {share} is not between 0 and 1")))
    }
}
