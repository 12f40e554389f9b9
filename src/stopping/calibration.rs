//! Calibration of stated confidence against graded answers.
//!
//! Computes the Brier score (the mean squared difference of stated confidence and result: 0 is
//! perfect, 0.25 is the score of always stating one half), the expected calibration error over ten
//! bins of equal width (Naeini et al., AAAI 2015: the mean distance of stated and right per bin,
//! weighted by count), and the table of bins. A partly right answer counts as half.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::domain::ids::ModelRef;

use super::number;

/// The calibration of answers, experts and judges over the graded answers of a period.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Calibration {
    pub graded: GradedAnswers,
    /// Answers by the confidence of their verdicts. Those of the embedded model are left out, here
    /// and below.
    pub answers: Option<Reliability>,
    /// Judges by model, those with most statements first.
    pub by_judge: IndexMap<ModelRef, Reliability>,
    /// Experts by model, with the confidence stated in Round 1. Only experts that supported the
    /// answer count: the grade says nothing about another position.
    pub by_expert: IndexMap<ModelRef, Reliability>,
    /// Levels by the share of experts that supported the leading point, the highest first.
    pub by_agreement: Vec<Level>,
}

/// Graded answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GradedAnswers {
    pub total: u64,
    pub right: u64,
    /// Partly right answers, which count as half.
    pub mixed: u64,
    pub wrong: u64,
}

/// Answers with the same share of supporters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Level {
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub agreement: f64,
    pub count: usize,
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub mean_right: f64,
}

/// One stated confidence and the share of the answer that was right, both from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradedConfidence {
    pub stated: f64,
    pub right: f64,
}

/// Reliability of many stated confidences.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reliability {
    /// Stated confidences.
    pub count: usize,
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub mean_stated: f64,
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub mean_right: f64,
    /// The mean squared difference of stated and right (Brier 1950).
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub brier: f64,
    /// The mean distance of stated and right over ten bins of equal width, weighted by count
    /// (Naeini et al. 2015).
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub expected_calibration_error: f64,
    /// The bins that are not empty, the lowest first.
    pub bins: Vec<Bin>,
}

/// Statements of similar confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bin {
    /// Lower bound, included. The upper bound `to` belongs to the next bin, except that 1 belongs
    /// to the last.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub from: f64,
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub to: f64,
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub count: usize,
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub mean_stated: f64,
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub mean_right: f64,
}

/// Number of bins of the expected calibration error.
const BINS: usize = 10;

impl Reliability {
    /// `None` if there are none. Values outside 0–1 are ignored.
    pub fn of(graded: impl IntoIterator<Item = GradedConfidence>) -> Option<Self> {
        let in_range = |one: &GradedConfidence| {
            (0.0..=1.0).contains(&one.stated) && (0.0..=1.0).contains(&one.right)
        };
        let graded: Vec<_> = graded.into_iter().filter(in_range).collect();
        let (mean_stated, mean_right) = means(&graded)?;
        let bins: Vec<Bin> = (0..BINS).filter_map(|at| bin(at, &graded)).collect();
        let error = bins
            .iter()
            .map(|bin| share(bin.count, graded.len()) * (bin.mean_stated - bin.mean_right).abs())
            .sum();
        let squares = graded.iter().map(|one| (one.stated - one.right).powi(2));
        Some(Self {
            count: graded.len(),
            mean_stated,
            mean_right,
            brier: squares.sum::<f64>() / number(graded.len()),
            expected_calibration_error: error,
            bins,
        })
    }
}

fn bin(at: usize, graded: &[GradedConfidence]) -> Option<Bin> {
    let inside = graded.iter().filter(|one| bin_of(one.stated) == at);
    let inside: Vec<GradedConfidence> = inside.copied().collect();
    let (mean_stated, mean_right) = means(&inside)?;
    Some(Bin {
        from: share(at, BINS),
        to: share(at + 1, BINS),
        count: inside.len(),
        mean_stated,
        mean_right,
    })
}

/// `None` of nothing.
fn means(graded: &[GradedConfidence]) -> Option<(f64, f64)> {
    let mean = |of: fn(&GradedConfidence) -> f64| {
        (!graded.is_empty()).then(|| graded.iter().map(of).sum::<f64>() / number(graded.len()))
    };
    Some((mean(|one| one.stated)?, mean(|one| one.right)?))
}

/// A bound as written (0.7) belongs to the bin that it begins, whatever its binary form.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the nearest whole millionth of a number from 0 to 1; the caller refuses others"
)]
fn bin_of(stated: f64) -> usize {
    ((stated * 1e6).round() as usize / (1_000_000 / BINS)).min(BINS - 1)
}

fn share(part: usize, whole: usize) -> f64 {
    number(part) / number(whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(pairs: &[(f64, f64)]) -> Option<Reliability> {
        Reliability::of(
            pairs
                .iter()
                .map(|&(stated, right)| GradedConfidence { stated, right }),
        )
    }

    #[test]
    fn a_sample_has_the_expected_scores() {
        // 0.9 right, 0.9 wrong, 0.6 right, 0.5 partly right.
        let found = of(&[(0.9, 1.0), (0.9, 0.0), (0.6, 1.0), (0.5, 0.5)]).unwrap();
        let close = |one: f64, other: f64| (one - other).abs() < 1e-12;
        assert!(
            close(found.brier, (0.01 + 0.81 + 0.16 + 0.0) / 4.0),
            "{found:?}"
        );
        // Bins 0.9: |0.9 - 0.5| of two; 0.6: |0.6 - 1|; 0.5: 0.
        assert!(
            close(found.expected_calibration_error, (2.0 * 0.4 + 0.4) / 4.0),
            "{found:?}"
        );
        assert_eq!(
            found
                .bins
                .iter()
                .map(|bin| (bin.from, bin.count))
                .collect::<Vec<_>>(),
            [(0.5, 1), (0.6, 1), (0.9, 2)]
        );
        assert!(close(found.mean_stated, 0.725) && close(found.mean_right, 0.625));
    }

    #[test]
    fn no_statements_give_no_reliability() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(1.5, 1.0), (f64::NAN, 0.0), (0.5, -1.0)]), None);
    }

    #[test]
    fn a_bound_begins_its_bin_and_certainty_is_in_the_last() {
        let borders: Vec<(f64, f64)> = (0..=10)
            .map(|tenth| (f64::from(tenth) / 10.0, 1.0))
            .collect();
        let found = of(&borders).unwrap();
        assert_eq!(
            found.bins.iter().map(|bin| bin.count).collect::<Vec<_>>(),
            [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]
        );
    }

    proptest! {
        #[test]
        fn scores_stay_in_their_ranges_and_do_not_depend_on_the_order(
            mut pairs in proptest::collection::vec(
                (0.0..=1.0f64, prop_oneof![Just(0.0), Just(0.5), Just(1.0)]),
                1..60,
            ),
        ) {
            let found = of(&pairs).unwrap();
            prop_assert!(
                (0.0..=1.0).contains(&found.brier)
                    && (0.0..=1.0 + 1e-9).contains(&found.expected_calibration_error)
            );
            prop_assert!(
                found.expected_calibration_error + 1e-9
                    >= (found.mean_stated - found.mean_right).abs()
            );
            prop_assert_eq!(
                found.bins.iter().map(|bin| bin.count).sum::<usize>(),
                pairs.len()
            );
            pairs.reverse();
            prop_assert!((of(&pairs).unwrap().brier - found.brier).abs() < 1e-9);
        }

        #[test]
        fn correct_statements_have_no_error(
            rights in
                proptest::collection::vec(prop_oneof![Just(0.0), Just(0.5), Just(1.0)], 1..40),
        ) {
            let found = Reliability::of(rights.into_iter().map(|right| GradedConfidence {
                stated: right,
                right,
            }))
            .unwrap();
            prop_assert_eq!((found.brier, found.expected_calibration_error), (0.0, 0.0));
        }
    }
}
