//! Measured values, compared exactly.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::domain::answer::confidence::Confidence;

/// A measured value. Shares and ratios are stored as two integers and compared without rounding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    Count(u64),
    /// A part of a whole, at most the whole.
    Share {
        part: u64,
        of: u64,
    },
    /// A quotient of two quantities, which may exceed 1.
    Ratio {
        numerator: u64,
        denominator: u64,
    },
    /// A state or a kind by its name. It equals another word or not; it has no order.
    Word(String),
}

/// The denominator of decimal fractions.
pub(crate) const MILLION: u64 = 1_000_000;

impl Value {
    pub fn count(number: usize) -> Self {
        Self::Count(wide(number))
    }

    pub fn share(part: usize, of: usize) -> Self {
        Self::Share {
            part: wide(part),
            of: wide(of),
        }
    }

    /// Returns a share of 100.
    pub fn percent(percent: u64) -> Self {
        Self::Share {
            part: percent,
            of: 100,
        }
    }

    /// Returns a decimal fraction, rounded to the nearest millionth so that it equals the written
    /// number.
    pub fn decimal(confidence: Confidence) -> Self {
        Self::Share {
            part: confidence.millionths(),
            of: MILLION,
        }
    }

    pub fn word(word: &str) -> Self {
        Self::Word(word.to_owned())
    }

    /// `None` for words, and if a whole is 0.
    pub fn compared(&self, other: &Self) -> Option<Ordering> {
        let (part, of) = self.fraction()?;
        let (other_part, other_of) = other.fraction()?;
        let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
        Some(product(part, other_of).cmp(&product(other_part, of)))
    }

    /// `None` if they cannot be compared.
    pub fn equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Word(word), Self::Word(other)) => Some(word == other),
            _ => self.compared(other).map(Ordering::is_eq),
        }
    }

    /// `None` for words, and if the whole is 0.
    pub(in crate::stopping) fn fraction(&self) -> Option<(u64, u64)> {
        match *self {
            Self::Count(number) => Some((number, 1)),
            Self::Share { part, of }
            | Self::Ratio {
                numerator: part,
                denominator: of,
            } => (of > 0).then_some((part, of)),
            Self::Word(_) => None,
        }
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

pub(in crate::stopping) fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
