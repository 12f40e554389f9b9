//! Two ways of answering, compared on the same cases: the difference of their shares of right
//! answers with its interval, and whether it can be chance.

use serde::{Deserialize, Serialize};

use super::proportion::{Proportion, wilson};
use super::{Interval, number};

/// Cases that both ways answered, by what each got right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PairedCounts {
    pub both_right: u64,
    pub only_first: u64,
    pub only_second: u64,
    pub both_wrong: u64,
}

impl PairedCounts {
    pub fn of(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut counts = Self::default();
        for pair in pairs {
            counts.add(pair.0, pair.1);
        }
        counts
    }

    pub fn add(&mut self, first_is_right: bool, second_is_right: bool) {
        let count = match (first_is_right, second_is_right) {
            (true, true) => &mut self.both_right,
            (true, false) => &mut self.only_first,
            (false, true) => &mut self.only_second,
            (false, false) => &mut self.both_wrong,
        };
        *count += 1;
    }

    pub fn total(&self) -> u64 {
        self.both_right + self.only_first + self.only_second + self.both_wrong
    }

    pub fn first(&self) -> Proportion {
        Proportion::new(self.both_right + self.only_first, self.total())
    }

    pub fn second(&self) -> Proportion {
        Proportion::new(self.both_right + self.only_second, self.total())
    }

    /// Returns the p of McNemar's exact test, two-sided, above 0 and at most 1: the probability
    /// that, if both ways were equally good, the cases that only one of them got right would be
    /// shared out at least as unevenly (a binomial test at one half: Agresti, Categorical Data
    /// Analysis, 2013, section 11.1). 1 if there are no such cases.
    ///
    /// A p below 1e-300 is returned as about that.
    pub fn mcnemar_p(&self) -> f64 {
        let fewer = self.only_first.min(self.only_second);
        let more = self.only_first.max(self.only_second);
        if more - fewer <= 1 {
            return 1.0;
        }
        // The tail from its largest term down: the sum of the terms as multiples of the largest,
        // and the logarithm of that one, so that nothing overflows.
        let (mut multiple, mut sum) = (1.0, 1.0);
        for left in (0..fewer).rev() {
            multiple *= number(left + 1) / number(more + fewer - left);
            sum += multiple;
            if multiple < f64::EPSILON * f64::EPSILON {
                break;
            }
        }
        let largest = ln_choose(more + fewer, fewer) - number(more + fewer) * f64::ln(2.0);
        (2.0 * (largest.max(LN_LEAST) + f64::ln(sum)).exp()).min(1.0)
    }

    /// Returns the share of right answers of the first way less that of the second, from -1 to 1,
    /// with the interval of method 10 of Newcombe (Statistics in Medicine
    /// 17:2635, 1998): the score intervals of both shares, combined by the correlation between the
    /// two ways, with its continuity correction. `None` without cases.
    pub fn difference(&self) -> Option<(f64, Interval)> {
        self.difference_over(self.total())
    }

    /// Returns the difference as if only `cases` of the pairs were independent, which is so for
    /// repeated answers to as many cases: the interval is that of so many pairs.
    pub fn difference_over(&self, cases: u64) -> Option<(f64, Interval)> {
        let (first, second) = (self.first().share()?, self.second().share()?);
        let (of_first, of_second) = (wilson(first, cases)?, wilson(second, cases)?);
        let phi = self.phi(number(cases) / number(self.total()));
        let distance = |one: f64, other: f64| {
            let square = one * one - 2.0 * phi * one * other + other * other;
            square.max(0.0).sqrt()
        };
        let difference = first - second;
        let below = distance(first - of_first.low, of_second.high - second);
        let above = distance(of_first.high - first, second - of_second.low);
        let interval = Interval {
            low: (difference - below).max(-1.0),
            high: (difference + above).min(1.0),
        };
        Some((difference, interval))
    }

    /// From -1 to 1; 0 where it is not defined. The counts are multiplied by `scale`, on which only
    /// the correction for continuity depends.
    fn phi(&self, scale: f64) -> f64 {
        let (first, second) = (self.first(), self.second());
        let margins = [first, second].map(|share| [share.part, share.whole - share.part]);
        let margins = margins.concat();
        let roots = margins.iter().map(|margin| number(*margin).sqrt());
        if margins.contains(&0) {
            return 0.0;
        }
        let product = number(self.both_right) * number(self.both_wrong)
            - number(self.only_first) * number(self.only_second);
        // Method 10 lowers a positive correlation, but not below 0.
        let corrected = if product > 0.0 {
            (product - number(self.total()) / (2.0 * scale)).max(0.0)
        } else {
            product
        };
        corrected / roots.product::<f64>()
    }
}

/// The logarithm of about 1e-300.
const LN_LEAST: f64 = -690.0;

/// Returns the logarithm of the number of ways to choose `chosen` of `all`.
fn ln_choose(all: u64, chosen: u64) -> f64 {
    (1..=chosen)
        .map(|at| (number(all - chosen + at) / number(at)).ln())
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(both_right: u64, only_first: u64, only_second: u64, both_wrong: u64) -> PairedCounts {
        PairedCounts {
            both_right,
            only_first,
            only_second,
            both_wrong,
        }
    }

    fn discordant(only_first: u64, only_second: u64) -> PairedCounts {
        counts(10, only_first, only_second, 10)
    }

    fn rounded(counts: PairedCounts) -> String {
        let (difference, Interval { low, high }) = counts.difference().unwrap();
        format!("{difference:.4} ({low:.4} to {high:.4})")
    }

    /// Returns the exact p by counting subsets, for at most 60 pairs.
    fn counted_p(one: u64, other: u64) -> f64 {
        let all = one + other;
        let (mut ways, mut sum) = (1_u64, 0_u64);
        for chosen in 0..=one.min(other) {
            sum += ways;
            ways = ways * (all - chosen) / (chosen + 1);
        }
        (2.0 * number(sum) / 2_f64.powi(i32::try_from(all).unwrap())).min(1.0)
    }

    /// Airway hyper-responsiveness before and after transplantation (Bentur et al., 2009), p =
    /// 0.070 in Fagerland, Lydersen and Laake (BMC Medical Research Methodology 13:91, 2013).
    #[test]
    fn p_matches_the_published_one() {
        assert_eq!(format!("{:.4}", counts(1, 1, 7, 12).mcnemar_p()), "0.0703");
    }

    /// 122 against 62 is `unanimous at 2` against the full vote on MMLU-Pro.
    #[test]
    fn p_of_many_pairs_matches_exact_arithmetic() {
        let p = |one, other| format!("{:.4e}", discordant(one, other).mcnemar_p());
        assert_eq!(p(122, 62), "1.1534e-5");
        assert_eq!(p(500, 402), "1.2268e-3");
        assert_eq!(p(5000, 4800), "4.4404e-2");
    }

    #[test]
    fn p_neither_overflows_nor_reaches_zero() {
        let least = discordant(1_000_000, 0).mcnemar_p();
        assert!(0.0 < least && least < 1e-290, "{least}");
        let even = discordant(1_000_000, 1_000_000).mcnemar_p();
        assert!((even - 1.0).abs() < f64::EPSILON);
        let close = discordant(1_000_000, 999_000).mcnemar_p();
        assert!((close - 0.4799).abs() < 1e-3, "{close}");
    }

    #[test]
    fn pairs_without_a_difference_have_p_one() {
        assert!((counts(5, 0, 0, 3).mcnemar_p() - 1.0).abs() < f64::EPSILON);
        assert!((PairedCounts::default().mcnemar_p() - 1.0).abs() < f64::EPSILON);
    }

    /// Method 10 in Newcombe (1998), in Altman et al., Statistics with Confidence (2000, table
    /// 6.2), and in Fagerland, Lydersen and Laake (Statistics in Medicine 33:2850, 2014).
    #[test]
    fn differences_match_the_published_ones() {
        assert_eq!(rounded(counts(36, 12, 2, 0)), "0.2000 (0.0569 to 0.3404)");
        assert_eq!(rounded(counts(36, 14, 0, 0)), "0.2800 (0.1528 to 0.4167)");
        assert_eq!(rounded(counts(14, 5, 0, 22)), "0.1220 (0.0115 to 0.2265)");
        assert_eq!(rounded(counts(1, 1, 7, 12)), "-0.2857 (-0.5069 to -0.0256)");
        let expected = "-0.0621 (-0.1186 to -0.0046)";
        assert_eq!(rounded(counts(59, 6, 16, 80)), expected);
    }

    #[test]
    fn no_pairs_have_no_difference() {
        assert_eq!(PairedCounts::default().difference(), None);
    }

    #[test]
    fn pairs_are_counted_by_who_is_right() {
        let pairs = [
            (true, true),
            (true, false),
            (false, true),
            (false, false),
            (true, false),
        ];
        assert_eq!(PairedCounts::of(pairs), counts(1, 2, 1, 1));
    }

    proptest! {
        #[test]
        fn p_equals_the_count_of_subsets(one in 0_u64..28, other in 0_u64..28) {
            let (exact, found) = (counted_p(one, other), discordant(one, other).mcnemar_p());
            prop_assert!((found - exact).abs() <= 1e-12 * exact, "{found} {exact}");
        }

        #[test]
        fn exchanged_ways_have_the_opposite_difference(
            (both_right, only_first, only_second, both_wrong)
                in (0_u64..300, 0_u64..300, 0_u64..300, 1_u64..300),
        ) {
            let one = counts(both_right, only_first, only_second, both_wrong);
            let other = counts(both_right, only_second, only_first, both_wrong);
            prop_assert!((one.mcnemar_p() - other.mcnemar_p()).abs() < 1e-12);
            let (one, other) = (one.difference().unwrap(), other.difference().unwrap());
            prop_assert!((one.0 + other.0).abs() < 1e-12);
            prop_assert!((one.1.low + other.1.high).abs() < 1e-9);
        }

        #[test]
        fn interval_contains_the_difference_within_its_range(
            (both_right, only_first, only_second, both_wrong)
                in (0_u64..300, 0_u64..300, 0_u64..300, 1_u64..300),
        ) {
            let (difference, interval) = counts(both_right, only_first, only_second, both_wrong)
                .difference()
                .unwrap();
            prop_assert!(interval.contains(difference), "{difference} {interval:?}");
            prop_assert!(-1.0 <= interval.low && interval.high <= 1.0);
        }

        #[test]
        fn one_more_win_of_the_better_way_never_raises_p(wins in 0_u64..400, losses in 0_u64..400) {
            prop_assume!(wins >= losses);
            let before = discordant(wins, losses).mcnemar_p();
            prop_assert!(discordant(wins + 1, losses).mcnemar_p() <= before + 1e-12);
        }
    }
}
