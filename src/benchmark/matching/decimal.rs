//! Numbers as they are written, compared exactly: 0.1 + 0.2 is 0.3 here, and a hundred digits count
//! to the last.

use std::cmp::Ordering;

/// A number in decimal notation: `digits` × 10^`exponent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    /// Without zeros at either end; empty for zero.
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Returns the number of these digits, of which the last `decimals` follow the point.
    pub(super) fn new(digits: &str, decimals: usize, exponent: i64) -> Self {
        let whole = digits.trim_start_matches('0');
        let short = whole.trim_end_matches('0');
        if short.is_empty() {
            return Self {
                is_negative: false,
                digits: String::new(),
                exponent: 0,
            };
        }
        let zeros = signed(whole.len() - short.len());
        Self {
            is_negative: false,
            digits: short.to_owned(),
            exponent: exponent
                .saturating_add(zeros)
                .saturating_sub(signed(decimals)),
        }
    }

    /// Returns the shortest decimal that reads back as the number: 0.1 is a tenth. Zero unless the
    /// number is finite.
    pub(super) fn of_float(number: f64) -> Self {
        let text = number.abs().to_string();
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
        let digits = format!("{whole}{decimals}");
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Self::new("", 0, 0);
        }
        Self::new(&digits, decimals.len(), 0).negated_if(number < 0.0)
    }

    pub(super) fn negated_if(mut self, is_negated: bool) -> Self {
        self.is_negative ^= is_negated && !self.digits.is_empty();
        self
    }

    /// Returns the number times a power of ten.
    pub(super) fn shifted(mut self, places: i64) -> Self {
        if !self.digits.is_empty() {
            self.exponent = self.exponent.saturating_add(places);
        }
        self
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Returns the number as an integer; `None` for a fraction, or one that does not fit.
    pub(super) fn integer(&self) -> Option<i128> {
        let product = self.product();
        let power = u32::try_from(product?.exponent).ok()?;
        product?.factor.checked_mul(10_i128.checked_pow(power)?)
    }

    fn product(&self) -> Option<Product> {
        let factor: i128 = if self.digits.is_empty() {
            0
        } else {
            self.digits.parse().ok()?
        };
        Some(Product {
            factor: if self.is_negative { -factor } else { factor },
            exponent: self.exponent,
        })
    }

    /// Returns the nearest floating-point number; infinite beyond its range.
    fn float(&self) -> f64 {
        let sign = if self.is_negative { "-" } else { "" };
        let digits = if self.digits.is_empty() {
            "0"
        } else {
            &self.digits
        };
        let text = format!("{sign}{digits}e{}", self.exponent);
        text.parse().unwrap_or(f64::NAN)
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A number: a decimal, or a fraction of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    numerator: Decimal,
    /// Positive.
    denominator: Decimal,
}

impl From<Decimal> for Number {
    fn from(numerator: Decimal) -> Self {
        Self {
            numerator,
            denominator: Decimal::new("1", 0, 0),
        }
    }
}

impl Number {
    /// Returns the fraction; `None` for a denominator of zero.
    pub(super) fn fraction(numerator: Decimal, denominator: Decimal) -> Option<Self> {
        let is_negated = denominator.is_negative;
        (!denominator.is_zero()).then(|| Self {
            numerator: numerator.negated_if(is_negated),
            denominator: denominator.negated_if(is_negated),
        })
    }

    /// Returns the number times a power of ten.
    pub(super) fn shifted(self, places: i64) -> Self {
        Self {
            numerator: self.numerator.shifted(places),
            ..self
        }
    }

    pub(super) fn negated_if(self, is_negated: bool) -> Self {
        Self {
            numerator: self.numerator.negated_if(is_negated),
            ..self
        }
    }
}

/// How far from the expected number an answer may be. Either is enough.
#[derive(Clone, Debug)]
pub(super) struct Tolerance {
    /// In the unit of the number.
    pub(super) absolute: Decimal,
    /// A share of the expected number.
    pub(super) relative: Decimal,
}

impl Tolerance {
    /// Whether a number is near enough to the expected one. Exact where the numbers have up to
    /// about 18 digits; beyond that equal numbers are still equal, and others are compared as
    /// floating-point numbers.
    pub(super) fn allows(&self, answer: &Number, expected: &Number) -> bool {
        if answer == expected {
            return true;
        }
        match self.allows_exactly(answer, expected) {
            Some(is_allowed) => is_allowed,
            None => self.allows_nearly(answer, expected),
        }
    }

    /// Compares |a/b − c/d| with the tolerance, both multiplied by b·d. `None` on overflow.
    fn allows_exactly(&self, answer: &Number, expected: &Number) -> Option<bool> {
        let (a, b) = (answer.numerator.product()?, answer.denominator.product()?);
        let (c, d) = (
            expected.numerator.product()?,
            expected.denominator.product()?,
        );
        let distance = a.times(d)?.minus(c.times(b)?)?.size()?;
        let absolute = self.absolute.product()?.times(b)?.times(d)?;
        let relative = self.relative.product()?.times(c)?.times(b)?.size()?;
        let is_within = |most: Product| distance.compared(most).map(Ordering::is_le);
        Some(is_within(absolute)? || is_within(relative)?)
    }

    fn allows_nearly(&self, answer: &Number, expected: &Number) -> bool {
        if self.absolute.is_zero() && self.relative.is_zero() {
            return false;
        }
        let value = |number: &Number| number.numerator.float() / number.denominator.float();
        let (answer, expected) = (value(answer), value(expected));
        let distance = (answer - expected).abs();
        distance.is_finite()
            && (distance <= self.absolute.float()
                || distance <= self.relative.float() * expected.abs())
    }
}

/// `factor` × 10^`exponent`.
#[derive(Clone, Copy, Debug)]
struct Product {
    factor: i128,
    exponent: i64,
}

impl Product {
    fn times(self, other: Self) -> Option<Self> {
        Some(Self {
            factor: self.factor.checked_mul(other.factor)?,
            exponent: self.exponent.checked_add(other.exponent)?,
        })
    }

    /// Returns both factors with the lower of the two exponents.
    fn aligned(self, other: Self) -> Option<(i128, i128, i64)> {
        let exponent = match (self.factor, other.factor) {
            (0, _) => other.exponent,
            (_, 0) => self.exponent,
            _ => self.exponent.min(other.exponent),
        };
        let factor = |product: Self| {
            if product.factor == 0 {
                return Some(0);
            }
            let places = u32::try_from(product.exponent.checked_sub(exponent)?).ok()?;
            product.factor.checked_mul(10_i128.checked_pow(places)?)
        };
        Some((factor(self)?, factor(other)?, exponent))
    }

    fn minus(self, other: Self) -> Option<Self> {
        let (one, other, exponent) = self.aligned(other)?;
        Some(Self {
            factor: one.checked_sub(other)?,
            exponent,
        })
    }

    fn size(self) -> Option<Self> {
        Some(Self {
            factor: self.factor.checked_abs()?,
            ..self
        })
    }

    fn compared(self, other: Self) -> Option<Ordering> {
        let (one, other, _) = self.aligned(other)?;
        Some(one.cmp(&other))
    }
}
