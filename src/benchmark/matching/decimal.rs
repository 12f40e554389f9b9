//! Numbers as they are written, compared exactly: 1/3 is not 0.3333, and a hundred digits count to
//! the last.

/// A number: `digits` × 10^`exponent` / `divisor`.
///
/// Invariant: the same number has the same fields. The digits have no zeros at either end and are
/// empty for zero; the divisor has no factor in common with them or with ten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    is_negative: bool,
    digits: String,
    exponent: i64,
    divisor: u128,
}

impl Number {
    /// Returns the number of these digits times a power of ten.
    pub(super) fn new(digits: &str, exponent: i64) -> Self {
        let whole = digits.trim_start_matches('0');
        let short = whole.trim_end_matches('0');
        let zeros = i64::try_from(whole.len() - short.len()).unwrap_or(i64::MAX);
        Self {
            is_negative: false,
            digits: short.to_owned(),
            exponent: if short.is_empty() {
                0
            } else {
                exponent.saturating_add(zeros)
            },
            divisor: 1,
        }
    }

    /// Returns the fraction; `None` for a denominator of zero, or numbers that are too large.
    pub(super) fn fraction(above: u128, below: u128) -> Option<Self> {
        let (mut one, mut other) = (above, below);
        while let Some(rest) = one.checked_rem(other) {
            (one, other) = (other, rest);
        }
        let (mut above, mut below) = (above.checked_div(one)?, below.checked_div(one)?);
        let mut exponent = 0;
        for (factor, other) in [(2, 5), (5, 2)] {
            while below != 0 && below % factor == 0 {
                (above, below) = (above.checked_mul(other)?, below / factor);
                exponent -= 1;
            }
        }
        (below != 0).then(|| Self {
            divisor: below,
            ..Self::new(&above.to_string(), exponent)
        })
    }

    /// Returns the number times a power of ten.
    pub(super) fn shifted(mut self, places: i64) -> Self {
        if !self.digits.is_empty() {
            self.exponent = self.exponent.saturating_add(places);
        }
        self
    }

    pub(super) fn negated_if(mut self, is_negated: bool) -> Self {
        self.is_negative = is_negated && !self.digits.is_empty();
        self
    }

    /// Whether it is at most this far from the expected number; either distance is enough. Equal
    /// numbers are compared exactly, distances as floating-point numbers.
    pub(super) fn is_near(&self, expected: &Self, absolute: f64, relative: f64) -> bool {
        let (answer, right) = (self.float(), expected.float());
        let most = absolute.max(relative * right.abs());
        // 0.4 is 0.1 from 0.3, which no floating-point number is.
        let rounding = 4.0 * f64::EPSILON * answer.abs().max(right.abs());
        let distance = (answer - right).abs();
        self == expected || most > 0.0 && distance.is_finite() && distance <= most + rounding
    }

    /// Returns the nearest floating-point number; infinite beyond its range.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a distance is compared as nearly as floats do"
    )]
    fn float(&self) -> f64 {
        let sign = if self.is_negative { "-" } else { "" };
        let text = format!("{sign}0{}e{}", self.digits, self.exponent);
        text.parse().unwrap_or(f64::NAN) / self.divisor as f64
    }
}
