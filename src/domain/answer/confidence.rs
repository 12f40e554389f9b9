//! A stated confidence, between 0 and 1, and a calibrated one. A missing confidence is `None`,
//! never 0.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("minimum" = 0, "maximum" = 1)))]
#[serde(transparent)]
pub struct Confidence(f64);

/// Never NaN.
impl Eq for Confidence {}

impl Confidence {
    /// `None` outside 0–1 and for NaN.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    pub fn value(self) -> f64 {
        self.0
    }

    /// Confidences are compared by it, so that they compare as written, whatever their binary form.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to a million"
    )]
    pub fn millionths(self) -> u64 {
        (self.0 * 1e6).round() as u64
    }
}

/// Shows whole percents: `85%`.
impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}%", self.0 * 100.0)
    }
}

impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Self::new(value).ok_or_else(|| {
            serde::de::Error::custom(format!("confidence `{value}` is not between 0 and 1"))
        })
    }
}

/// A probability and its basis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Above 0 and below 1.
    pub probability: f64,
    pub basis: Basis,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Recorded panels with as many answers, of which as many agreed.
    Panels { supporters: usize, answered: usize },
    /// The user's own graded answers with the same agreement.
    Experience { graded: usize, agreement: f64 },
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stored_confidence_keeps_every_bit(value in 0.0..=1.0f64) {
            let stated = Confidence::new(value).unwrap();
            let written = serde_json::to_string(&stated).unwrap();
            prop_assert_eq!(serde_json::from_str::<Confidence>(&written).unwrap(), stated);
        }
    }
}
