//! Describes rules and values for people: in the list of objections and in the tree of an
//! evaluation.

use super::rule::{Bound, Rule};
use super::value::{MILLION, Value};

/// The way in which decimal fractions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    /// `0.92`
    Decimals,
    /// `92%`
    Percent,
}

impl Rule {
    pub fn in_words(&self) -> String {
        format!("{}: {}", self.metric, self.measure_in_words())
    }

    /// `0.92 (at least 0.90)`, `2 of 3 (at least 3 of 3)`, `unknown (at most 0)`.
    pub fn measure_in_words(&self) -> String {
        let (value, threshold) = self.figures(Notation::Decimals);
        let value = value.unwrap_or_else(|| "unknown".to_owned());
        format!("{value} ({} {threshold})", self.bound.in_words())
    }

    /// With as many decimals as it takes to tell different ones apart.
    pub(crate) fn figures(&self, notation: Notation) -> (Option<String>, String) {
        let Some(notation) = self.notation(notation) else {
            let value = self.value.as_ref().map(Value::in_numbers);
            return (value, self.threshold.in_numbers());
        };
        let with = |digits| {
            let value = self.value.as_ref();
            (
                value.map(|value| value.in_notation(notation, digits)),
                self.threshold.in_notation(notation, digits),
            )
        };
        let is_same = self
            .value
            .as_ref()
            .is_some_and(|value| value.equals(&self.threshold) == Some(true));
        let differs = |(value, threshold): &(Option<String>, String)| {
            is_same || value.as_ref() != Some(threshold)
        };
        let (fewest, most) = match notation {
            Notation::Decimals => (2, 6),
            Notation::Percent => (0, 4),
        };
        (fewest..most)
            .map(with)
            .find(differs)
            .unwrap_or_else(|| with(most))
    }

    /// `None` if the values are whole numbers, or no numbers.
    fn notation(&self, of_decimals: Notation) -> Option<Notation> {
        let is_ratio = |value: &Value| matches!(value, Value::Ratio { .. });
        if matches!(self.threshold, Value::Share { of: MILLION, .. }) {
            Some(of_decimals)
        } else if is_ratio(&self.threshold) || self.value.as_ref().is_some_and(is_ratio) {
            Some(Notation::Decimals)
        } else {
            None
        }
    }
}

impl Bound {
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::MoreThan => "more than",
            Self::AtMost => "at most",
            Self::LessThan => "less than",
            Self::Is => "must be",
            Self::IsNot => "must not be",
        }
    }
}

impl Value {
    fn in_numbers(&self) -> String {
        match self {
            Self::Count(number) => number.to_string(),
            Self::Share { part, of: 100 } => format!("{part}%"),
            Self::Share { part, of } => format!("{part} of {of}"),
            Self::Ratio {
                numerator,
                denominator,
            } => format!("{numerator}:{denominator}"),
            Self::Word(word) => word.clone(),
        }
    }

    pub(in crate::stopping) fn in_decimals(&self, digits: usize) -> String {
        self.in_notation(Notation::Decimals, digits)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "for a screen, where a share has a few decimals"
    )]
    fn in_notation(&self, notation: Notation, digits: usize) -> String {
        let is_whole = matches!(self, Self::Count(_));
        let Some((part, of)) = self.fraction().filter(|_| !is_whole) else {
            return self.in_numbers();
        };
        match notation {
            Notation::Decimals => format!("{:.digits$}", part as f64 / of as f64),
            Notation::Percent => format!("{:.digits$}%", 100.0 * part as f64 / of as f64),
        }
    }
}
