//! A share of a count, with the score interval of Wilson.

use serde::Serialize;

use super::{Interval, Z_95, number};

/// A number of cases out of all. Invariant: `part` is at most `whole`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proportion {
    pub part: u64,
    pub whole: u64,
}

impl Proportion {
    /// A part above the whole counts as the whole.
    pub fn new(part: u64, whole: u64) -> Self {
        Self {
            part: part.min(whole),
            whole,
        }
    }

    pub fn of(cases: impl IntoIterator<Item = bool>) -> Self {
        let (mut part, mut whole) = (0, 0);
        for case in cases {
            whole += 1;
            part += u64::from(case);
        }
        Self { part, whole }
    }

    /// From 0 to 1; `None` of nothing.
    pub fn share(self) -> Option<f64> {
        (self.whole > 0).then(|| number(self.part) / number(self.whole))
    }

    /// See [`wilson`].
    pub fn interval(self) -> Option<Interval> {
        wilson(self.share()?, self.whole)
    }
}

/// Returns the score interval of Wilson (1927) without continuity correction, which is method 3 of
/// Newcombe (Statistics in Medicine 17:857, 1998), from 0 to 1, for a share of `whole` cases;
/// `None` of nothing. Unlike the interval from the standard error it has a width at 0 and at 1, and
/// never leaves that range.
///
/// The share need not be that of a whole number of cases: with repeated answers, `whole` is the
/// number of cases, which alone are independent.
pub fn wilson(share: f64, whole: u64) -> Option<Interval> {
    if whole == 0 {
        return None;
    }
    let whole = number(whole);
    let square = Z_95 * Z_95;
    let centre = share + square / (2.0 * whole);
    let spread = share * (1.0 - share) / whole + square / (4.0 * whole * whole);
    let half = Z_95 * spread.sqrt();
    let scale = 1.0 + square / whole;
    let low = ((centre - half) / scale).max(0.0);
    let high = ((centre + half) / scale).min(1.0);
    // At the ends of the range the bound is exact, but for rounding.
    Some(Interval {
        low: if share <= 0.0 { 0.0 } else { low },
        high: if share >= 1.0 { 1.0 } else { high },
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rounded(part: u64, whole: u64) -> String {
        let Interval { low, high } = Proportion::new(part, whole).interval().unwrap();
        format!("{low:.4} to {high:.4}")
    }

    /// Method 3 in Table I of Newcombe (1998).
    #[test]
    fn intervals_match_the_published_ones() {
        assert_eq!(rounded(81, 263), "0.2553 to 0.3662");
        assert_eq!(rounded(15, 148), "0.0624 to 0.1605");
        assert_eq!(rounded(0, 20), "0.0000 to 0.1611");
        assert_eq!(rounded(1, 29), "0.0061 to 0.1718");
    }

    #[test]
    fn nothing_has_neither_share_nor_interval() {
        assert_eq!(Proportion::new(0, 0).share(), None);
        assert_eq!(Proportion::new(0, 0).interval(), None);
        assert_eq!(Proportion::of([]), Proportion::default());
    }

    #[test]
    fn part_never_exceeds_the_whole() {
        assert_eq!(Proportion::new(3, 2), Proportion::new(2, 2));
    }

    #[test]
    fn cases_that_are_true_are_the_part() {
        assert_eq!(Proportion::of([true, false, true]), Proportion::new(2, 3));
    }

    proptest! {
        /// The definition: the bounds are where the score test just rejects.
        #[test]
        fn bounds_are_one_critical_value_from_the_share(
            (part, whole) in (1_u64..5000).prop_flat_map(|whole| (0..=whole, Just(whole))),
        ) {
            let proportion = Proportion::new(part, whole);
            let share = proportion.share().unwrap();
            let interval = proportion.interval().unwrap();
            prop_assert!(0.0 <= interval.low && interval.high <= 1.0);
            prop_assert!(interval.contains(share));
            for bound in [interval.low, interval.high] {
                let error = Z_95 * (bound * (1.0 - bound) / number(whole)).sqrt();
                let is_end = bound == 0.0 || (bound - 1.0).abs() < f64::EPSILON;
                prop_assert!(is_end || ((share - bound).abs() - error).abs() < 1e-9);
            }
        }

        #[test]
        fn interval_of_the_others_is_the_mirror(
            (part, whole) in (1_u64..5000).prop_flat_map(|whole| (0..=whole, Just(whole))),
        ) {
            let one = Proportion::new(part, whole).interval().unwrap();
            let other = Proportion::new(whole - part, whole).interval().unwrap();
            prop_assert!((one.low - (1.0 - other.high)).abs() < 1e-12);
            prop_assert!((one.high - (1.0 - other.low)).abs() < 1e-12);
        }
    }
}
