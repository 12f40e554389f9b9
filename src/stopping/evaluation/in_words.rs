//! Describes rules and values for people: in the list of objections and in the tree of an
//! evaluation.

use std::cmp::Ordering;

use super::{Bound, MILLION, Rule, Value};

impl Rule {
    /// Describes the measured value and the required one.
    pub fn in_words(&self) -> String {
        format!("{}: {}", self.metric, self.measure_in_words())
    }

    /// Describes value and threshold: `0.92 (at least 0.90)`, `2 of 3 (at least 3 of 3)`, `unknown
    /// (at most 0)`.
    pub fn measure_in_words(&self) -> String {
        let (value, threshold) = self.figures();
        let bound = match self.bound {
            Bound::AtLeast => "at least",
            Bound::MoreThan => "more than",
            Bound::AtMost => "at most",
            Bound::LessThan => "less than",
        };
        format!(
            "{} ({bound} {threshold})",
            value.unwrap_or_else(|| "unknown".to_owned())
        )
    }

    /// Formats value and threshold with two decimals, or with more if different values would look
    /// the same.
    fn figures(&self) -> (Option<String>, String) {
        if !self.threshold.is_decimal() {
            return (
                self.value.map(Value::in_numbers),
                self.threshold.in_numbers(),
            );
        }
        let with = |digits| {
            (
                self.value.map(|value| value.in_decimals(digits)),
                self.threshold.in_decimals(digits),
            )
        };
        let is_same = self
            .value
            .and_then(|value| value.compared(self.threshold))
            .is_some_and(Ordering::is_eq);
        let differs = |(value, threshold): &(Option<String>, String)| {
            is_same || value.as_ref() != Some(threshold)
        };
        (2..6).map(with).find(differs).unwrap_or_else(|| with(6))
    }
}

impl Value {
    /// Returns whether the threshold was given as a decimal fraction; values are then shown in the
    /// same form.
    fn is_decimal(self) -> bool {
        matches!(self, Self::Share { of: MILLION, .. })
    }

    fn in_numbers(self) -> String {
        match self {
            Self::Count(number) => number.to_string(),
            Self::Share { part, of } => format!("{part} of {of}"),
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "for a screen, where a share has a few decimals"
    )]
    pub(in crate::stopping) fn in_decimals(self, digits: usize) -> String {
        match self {
            Self::Count(number) => number.to_string(),
            Self::Share { part, of } => format!("{:.digits$}", part as f64 / of as f64),
        }
    }
}
