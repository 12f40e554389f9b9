//! Money, exact to the micro-dollar. Sums never use floats: they appear only where a decimal is
//! read or shown.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize, Serializer};

/// An amount in whole micro-dollars (1 USD = 1,000,000).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct MicroUsd(pub u64);

impl MicroUsd {
    pub const ZERO: Self = Self(0);

    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// Reads a decimal amount of dollars, rounded to the nearest micro-dollar. `None` for negative,
    /// infinite or absurd amounts.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked just before"
    )]
    pub fn from_usd(usd: f64) -> Option<Self> {
        let micro = (usd * 1e6).round();
        (0.0..1e15).contains(&micro).then_some(Self(micro as u64))
    }

    /// As a decimal, for JSON numbers.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact below 2^53 micro-dollars, nine billion dollars"
    )]
    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Rounds up to whole cents.
    #[must_use]
    pub fn up_to_cents(self) -> Self {
        Self(self.0.div_ceil(10_000).saturating_mul(10_000))
    }
}

/// Sums are made by the type's own `+`, from what is nothing by default.
macro_rules! summed {
    ($($sum:ty),+) => {$(
        impl AddAssign for $sum {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sum for $sum {
            fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
                parts.fold(Self::default(), Add::add)
            }
        }
    )+};
}

summed!(MicroUsd, Cost);

impl Add for MicroUsd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Shows `$0.0131`; a precision sets the decimals (`{:.2}` gives `$0.01`), rounded half up, six at
/// most. Below a cent there are as many as the amount needs, `$0.0042`, and zero is `$0.00`.
impl fmt::Display for MicroUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = u32::try_from(f.precision().unwrap_or(4).min(6)).unwrap_or(6);
        let decimals = match self.0 {
            0 => decimals.min(2),
            amount if amount.is_multiple_of(10u64.pow(6 - decimals)) => decimals,
            1..50 => 6,
            50..10_000 => decimals.max(4),
            10_000.. => decimals,
        };
        let unit = 10u64.pow(6 - decimals);
        let rounded = self.0.saturating_add(unit / 2) / unit;
        let scale = 10u64.pow(decimals);
        let width = decimals as usize;
        match decimals {
            0 => write!(f, "${rounded}"),
            _ => write!(f, "${}.{:0width$}", rounded / scale, rounded % scale),
        }
    }
}

/// A saving in whole micro-dollars; negative if what should save money cost more than it saved.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Saving(pub i64);

impl Saving {
    /// Returns the difference of two costs of the same work.
    pub fn between(without: MicroUsd, with: MicroUsd) -> Self {
        let [without, with] =
            [without, with].map(|cost| Self(i64::try_from(cost.0).unwrap_or(i64::MAX)));
        without - with
    }

    /// Returns the size of the saving or, if it is negative, of the loss.
    pub fn size(self) -> MicroUsd {
        MicroUsd(self.0.unsigned_abs())
    }

    pub fn is_loss(self) -> bool {
        self.0 < 0
    }

    /// In dollars as a decimal, for JSON numbers.
    pub fn usd(self) -> f64 {
        if self.is_loss() {
            -self.size().usd()
        } else {
            self.size().usd()
        }
    }
}

impl Add for Saving {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Saving {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// A cost: the known part, whether an unpriced or unreported part comes on top, and whether it
/// leaves out a part that a plan pays for, which has no price and is not free either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cost {
    /// The known part, in micro-dollars.
    #[serde(rename = "micro_usd")]
    pub known: MicroUsd,
    /// True if the real cost is the known part or more.
    pub lower_bound: bool,
    /// True if a plan pays for a part that is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_plan: bool,
}

impl Cost {
    pub const FREE: Self = Self {
        known: MicroUsd::ZERO,
        lower_bound: false,
        by_plan: false,
    };

    pub const BY_PLAN: Self = Self {
        by_plan: true,
        ..Self::FREE
    };

    pub fn exactly(known: MicroUsd) -> Self {
        Self {
            known,
            ..Self::FREE
        }
    }

    pub fn at_least(known: MicroUsd) -> Self {
        Self {
            known,
            lower_bound: true,
            ..Self::FREE
        }
    }

    /// Returns whether no money is owed for it: it is free, or a plan pays for it.
    pub fn is_unbilled(self) -> bool {
        self.known.is_zero() && !self.lower_bound
    }

    /// Without what a plan pays for.
    #[must_use]
    pub fn billed(self) -> Self {
        Self {
            by_plan: false,
            ..self
        }
    }

    /// Returns whether a plan pays for all of it.
    pub fn is_all_by_plan(self) -> bool {
        self.by_plan && self.is_unbilled()
    }

    /// Returns whether no part of it is known.
    pub fn is_unknown(self) -> bool {
        self.lower_bound && self.known.is_zero()
    }
}

/// A cost as reports write it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CostInDollars {
    /// The known part, in dollars.
    #[cfg_attr(test, schemars(range(min = 0)))]
    usd: f64,
    #[serde(flatten)]
    cost: Cost,
}

impl CostInDollars {
    pub(crate) fn write<S: Serializer>(
        cost: &(impl Copy + Into<Option<Cost>>),
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let cost: Option<Cost> = (*cost).into();
        let in_dollars = cost.map(|cost| {
            let usd = cost.known.usd();
            Self { usd, cost }
        });
        in_dollars.serialize(serializer)
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            known: self.known + other.known,
            lower_bound: self.lower_bound || other.lower_bound,
            by_plan: self.by_plan || other.by_plan,
        }
    }
}

/// Shows `$0.0131`, `≥ $0.0131` for a lower bound, or `price unknown`; precision as for
/// [`MicroUsd`]. What a plan pays for is `plan`, `$0.0131 + plan` beside other parts.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_all_by_plan() {
            return f.write_str("plan");
        }
        if self.is_unknown() {
            f.write_str("price unknown")?;
        } else {
            f.write_str(if self.lower_bound { "≥ " } else { "" })?;
            self.known.fmt(f)?;
        }
        f.write_str(if self.by_plan { " + plan" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shown_rounded_half_up() {
        let amount = MicroUsd::from_usd(0.013_15).unwrap();
        assert_eq!(amount.to_string(), "$0.0132");
        assert_eq!(
            format!(
                "{amount:.2} {:.2} {:.6} {:.0}",
                MicroUsd(1_995_000),
                amount,
                MicroUsd(500_000)
            ),
            "$0.01 $2.00 $0.013150 $1"
        );
        assert_eq!(Cost::at_least(MicroUsd(120_000)).to_string(), "≥ $0.1200");
    }

    #[test]
    fn small_amounts_have_the_digits_they_need() {
        let shown =
            [0, 1, 42, 50, 4_200, 9_999, 10_000].map(|micro| format!("{:.2} {0}", MicroUsd(micro)));
        assert_eq!(
            shown,
            [
                "$0.00 $0.00",
                "$0.000001 $0.000001",
                "$0.000042 $0.000042",
                "$0.0001 $0.0001",
                "$0.0042 $0.0042",
                "$0.0100 $0.0100",
                "$0.01 $0.0100",
            ]
        );
        assert_eq!(Cost::at_least(MicroUsd::ZERO).to_string(), "price unknown");
    }

    #[test]
    fn impossible_amounts_are_refused() {
        for usd in [-0.01, f64::NAN, f64::INFINITY, 1e12] {
            assert_eq!(MicroUsd::from_usd(usd), None, "{usd}");
        }
    }

    #[test]
    fn one_unknown_part_makes_a_sum_a_lower_bound() {
        let total: Cost = [Cost::exactly(MicroUsd(3)), Cost::at_least(MicroUsd(4))]
            .into_iter()
            .sum();
        assert_eq!(total, Cost::at_least(MicroUsd(7)));
    }

    #[test]
    fn what_a_plan_pays_for_has_no_amount() {
        let billed = Cost::exactly(MicroUsd(13_100));
        let unknown = Cost::at_least(MicroUsd::ZERO);
        for (cost, shown) in [
            (Cost::BY_PLAN, "plan"),
            (Cost::BY_PLAN + Cost::FREE, "plan"),
            (Cost::BY_PLAN + billed, "$0.0131 + plan"),
            (Cost::BY_PLAN + unknown, "price unknown + plan"),
        ] {
            assert_eq!(cost.to_string(), shown);
        }
    }
}
