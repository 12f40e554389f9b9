//! The statistics of reports: shares with their intervals, comparisons of pairs, quantiles. A share
//! of nothing and an interval of nothing are `None`, never 0.
//!
//! All intervals are two-sided, at 95 %.

pub mod proportion;
pub mod paired;

use serde::{Deserialize, Serialize};

/// The 97.5th percentile of the standard normal distribution: 95 % of it lie within this distance
/// of its mean.
pub(crate) const Z_95: f64 = 1.959_963_984_540_054;

/// A confidence interval at 95 %. Both bounds are included; `low` is at most `high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interval {
    #[cfg_attr(test, schemars(range(min = -1, max = 1)))]
    pub low: f64,
    #[cfg_attr(test, schemars(range(min = -1, max = 1)))]
    pub high: f64,
}

impl Interval {
    #[cfg(test)]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a run has far fewer than 2^53 cases"
)]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

/// `None` without values. A percentage above 100 gives the largest value, and 0 the smallest.
pub fn nearest_rank<T: Copy>(ascending: &[T], percent: u32) -> Option<T> {
    let percent = usize::try_from(percent).ok()?;
    let rank = ascending.len().saturating_mul(percent).div_ceil(100);
    let last = ascending.len().checked_sub(1)?;
    ascending.get(rank.saturating_sub(1).min(last)).copied()
}

/// Of an even number of values the lower of the two in the middle.
pub fn median<T: Copy>(ascending: &[T]) -> Option<T> {
    nearest_rank(ascending, 50)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of Wikipedia's article on percentiles.
    #[test]
    fn quantiles_match_the_textbook() {
        let values = [15, 20, 35, 40, 50];
        let quantiles = [5, 30, 40, 50, 100].map(|percent| nearest_rank(&values, percent));
        assert_eq!(quantiles, [15, 20, 20, 35, 50].map(Some));
    }

    #[test]
    fn no_values_have_no_quantile() {
        assert_eq!(median::<u64>(&[]), None);
    }

    #[test]
    fn median_of_two_is_the_lower() {
        assert_eq!(median(&[1.5, 2.5]), Some(1.5));
    }

    #[test]
    fn percentages_beyond_the_range_give_the_ends() {
        assert_eq!(nearest_rank(&[1, 2, 3], 0), Some(1));
        assert_eq!(nearest_rank(&[1, 2, 3], 250), Some(3));
    }

    proptest! {
        #[test]
        fn quantile_is_the_first_value_with_its_share(
            mut values in prop::collection::vec(0_u64..50, 1..80),
            percent in 1_u32..=100,
        ) {
            values.sort_unstable();
            let found = nearest_rank(&values, percent).unwrap();
            let share = |bound: u64| {
                100 * values.iter().filter(|value| **value <= bound).count()
            };
            let wanted = usize::try_from(percent).unwrap() * values.len();
            prop_assert!(share(found) >= wanted);
            prop_assert!(found == 0 || share(found - 1) < wanted);
        }
    }
}
