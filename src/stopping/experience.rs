//! The user's own experience: the share of graded answers that were right, by agreement.
//!
//! Few answers are graded at each level of agreement. So each level is drawn towards the overall
//! mean, and levels that contradict the order (more agreement, yet less often right) are merged
//! (isotonic regression by pooling adjacent violators, weighted by count).

use super::calibration::Level;
use super::number;

/// The number of graded answers from which a user's own experience outweighs general knowledge
/// about models.
pub const ENOUGH: usize = 50;

/// Pseudo-answers added to each level, right as often as all answers together (an m-estimate with m
/// = 2).
const BORROWED: f64 = 2.0;

/// Graded answers by level of agreement. Invariant: more agreement is never less often right.
#[derive(Clone, Debug, PartialEq)]
pub struct AgreementExperience {
    pub graded: usize,
    /// Steps by agreement in whole percents, ascending; each applies up to the next.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    percent: u64,
    count: f64,
    right: f64,
}

impl AgreementExperience {
    /// `None` until enough answers have been graded.
    pub fn of(levels: &[Level]) -> Option<Self> {
        let levels: Vec<Level> = sorted(levels);
        let graded = levels.iter().map(|level| level.count).sum();
        (graded >= ENOUGH).then(|| Self {
            graded,
            steps: isotonic(&smoothed(&levels)),
        })
    }

    /// By the highest level that is not above it, or the lowest level.
    pub fn right_at(&self, agreement: f64) -> Option<f64> {
        let reached = percent(agreement);
        let below = self.steps.iter().rev().find(|step| step.percent <= reached);
        below.or(self.steps.first()).map(|step| step.right)
    }
}

/// Returns the levels with answers in a fixed order, so that sums do not depend on the input order.
fn sorted(levels: &[Level]) -> Vec<Level> {
    let in_range = |number: &f64| (0.0..=1.0).contains(number);
    let says_something = |level: &&Level| {
        level.count > 0 && in_range(&level.agreement) && in_range(&level.mean_right)
    };
    let mut levels: Vec<Level> = levels.iter().filter(says_something).copied().collect();
    let key = |level: &Level| (percent(level.agreement), level.count);
    levels.sort_by(|one, other| {
        let equal = key(one).cmp(&key(other));
        equal.then(one.mean_right.total_cmp(&other.mean_right))
    });
    levels
}

/// Returns one step for each percentage, each drawn towards the overall mean.
fn smoothed(levels: &[Level]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for level in levels {
        let step = Step {
            percent: percent(level.agreement),
            count: number(level.count),
            right: level.mean_right,
        };
        match steps.last_mut().filter(|last| last.percent == step.percent) {
            Some(last) => *last = together(*last, step),
            None => steps.push(step),
        }
    }
    let Some(all) = steps.iter().copied().reduce(together) else {
        return steps;
    };
    // Right and wrong are equally likely before the first answer: no number of grades gives
    // certainty.
    let overall = (all.count * all.right + 1.0) / (all.count + 2.0);
    let draw = |step: &Step| Step {
        right: (step.count * step.right + BORROWED * overall) / (step.count + BORROWED),
        ..*step
    };
    steps.iter().map(draw).collect()
}

/// Merges neighbours that contradict the order until none do. Each percentage keeps its step.
fn isotonic(steps: &[Step]) -> Vec<Step> {
    let mut blocks: Vec<(Step, Vec<u64>)> = Vec::new();
    for step in steps {
        let (mut block, mut percents) = (*step, vec![step.percent]);
        while let Some((before, mut its)) = blocks.pop_if(|(before, _)| before.right >= block.right)
        {
            block = together(before, block);
            its.append(&mut percents);
            percents = its;
        }
        blocks.push((block, percents));
    }
    let steps = blocks.into_iter().flat_map(|(block, percents)| {
        let steps = percents.into_iter();
        steps.map(move |percent| Step { percent, ..block })
    });
    steps.collect()
}

fn together(one: Step, other: Step) -> Step {
    let count = one.count + other.count;
    Step {
        percent: one.percent,
        count,
        right: (one.count * one.right + other.count * other.right) / count,
    }
}

/// Distinguishes levels by whole percents, so that 2 of 3 is always the same level, however its
/// binary fraction was rounded.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to 1: anything else is cut off"
)]
fn percent(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * 100.0).round() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn level(agreement: f64, count: usize, mean_right: f64) -> Level {
        Level {
            agreement,
            count,
            mean_right,
        }
    }

    fn right_at(levels: &[Level], agreement: f64) -> f64 {
        AgreementExperience::of(levels)
            .unwrap()
            .right_at(agreement)
            .unwrap()
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    #[test]
    fn fifty_graded_answers_are_enough_and_fewer_are_not() {
        assert_eq!(
            AgreementExperience::of(&[level(1.0, 30, 0.9), level(0.5, 19, 0.5)]),
            None
        );
        assert_eq!(
            AgreementExperience::of(&[level(1.0, 30, 0.9), level(0.5, 20, 0.5)])
                .unwrap()
                .graded,
            50
        );
        assert_eq!(AgreementExperience::of(&[]), None);
        assert_eq!(
            AgreementExperience::of(&[level(1.5, 60, 0.9), level(1.0, 60, f64::NAN)]),
            None,
            "what is no share says nothing"
        );
    }

    #[test]
    fn a_level_is_drawn_towards_the_overall_mean() {
        // 45 and 20 of 80 were right: 66 of 82 with one right and one wrong before the first.
        let levels = [level(1.0, 50, 0.9), level(0.5, 30, 2.0 / 3.0)];
        let overall = (45.0 + 20.0 + 1.0) / 82.0;
        assert!(close(right_at(&levels, 1.0), (45.0 + 2.0 * overall) / 52.0));
        assert!(close(right_at(&levels, 0.5), (20.0 + 2.0 * overall) / 32.0));
    }

    #[test]
    fn the_level_at_or_below_the_agreement_counts() {
        let levels = [
            level(2.0 / 3.0, 40, 0.7),
            level(1.0, 40, 0.9),
            level(0.5, 40, 0.5),
        ];
        let at = |agreement| right_at(&levels, agreement);
        assert_eq!(
            (at(0.6), at(0.8), at(0.1)),
            (at(0.5), at(2.0 / 3.0), at(0.5))
        );
        assert!(at(0.5) < at(2.0 / 3.0) && at(2.0 / 3.0) < at(1.0));
        let kept_shorter = [level(0.67, 40, 0.7), level(0.5, 40, 0.5)];
        assert!(
            right_at(&kept_shorter, 2.0 / 3.0) > 0.6,
            "however 2 of 3 was rounded"
        );
    }

    #[test]
    fn levels_that_contradict_the_order_are_merged() {
        let levels = [
            level(0.5, 30, 0.8),
            level(0.75, 10, 0.4),
            level(1.0, 60, 0.9),
        ];
        let at = |agreement| right_at(&levels, agreement);
        let overall = (24.0 + 4.0 + 54.0 + 1.0) / 102.0;
        let (low, high) = ((24.0 + 2.0 * overall) / 32.0, (4.0 + 2.0 * overall) / 12.0);
        assert!(
            close(at(0.5), (30.0 * low + 10.0 * high) / 40.0),
            "weighted by how many there are"
        );
        assert!(close(at(0.5), at(0.75)));
        assert!(at(1.0) > at(0.75));
    }

    #[test]
    fn duplicate_levels_are_merged() {
        let twice = [
            level(1.0, 20, 0.5),
            level(1.0, 40, 0.8),
            level(0.5, 10, 0.2),
        ];
        let once = [level(1.0, 60, 0.7), level(0.5, 10, 0.2)];
        assert!(
            close(right_at(&twice, 1.0), right_at(&once, 1.0))
                && close(right_at(&twice, 0.5), right_at(&once, 0.5))
        );
    }

    /// Levels of panels of up to seven, as they are graded, in any order.
    fn levels() -> impl Strategy<Value = Vec<Level>> {
        let one =
            (1..=7_u32, 0..=7_u32, 0..40_usize, 0.0..=1.0).prop_map(|(of, part, count, right)| {
                level(f64::from(part.min(of)) / f64::from(of), count, right)
            });
        prop::collection::vec(one, 1..10).prop_map(|mut levels| {
            levels.push(level(1.0, ENOUGH, 0.7));
            levels
        })
    }

    proptest! {
        #[test]
        fn more_agreement_never_means_less_often_right(
            levels in levels(),
            one in 0.0..=1.0,
            other in 0.0..=1.0,
        ) {
            let experience = AgreementExperience::of(&levels).unwrap();
            let (low, high) = (
                experience.right_at(f64::min(one, other)).unwrap(),
                experience.right_at(f64::max(one, other)).unwrap(),
            );
            prop_assert!(low <= high, "{low} {high}");
        }

        #[test]
        fn results_lie_within_the_smoothed_levels_and_are_never_certain(
            levels in levels(),
            agreement in 0.0..=1.0,
        ) {
            let found = right_at(&levels, agreement);
            let smoothed: Vec<f64> = smoothed(&sorted(&levels))
                .iter()
                .map(|step| step.right)
                .collect();
            let (least, most) = smoothed.iter().fold((1.0, 0.0), |(least, most), right| {
                (f64::min(least, *right), f64::max(most, *right))
            });
            prop_assert!(
                least - 1e-12 <= found && found <= most + 1e-12,
                "{least} {found} {most}"
            );
            prop_assert!(0.0 < found && found < 1.0, "{found}");
        }

        #[test]
        fn the_order_of_the_levels_changes_nothing(
            levels in levels()
                .prop_flat_map(|levels| (Just(levels.clone()), Just(levels).prop_shuffle())),
        ) {
            prop_assert_eq!(AgreementExperience::of(&levels.0), AgreementExperience::of(&levels.1));
        }

        #[test]
        fn pooling_preserves_the_total_of_right_answers(levels in levels()) {
            let before = smoothed(&sorted(&levels));
            let after = isotonic(&before);
            let right = |steps: &[Step]| -> f64 {
                before.iter().zip(steps).map(|(step, pooled)| step.count * pooled.right).sum()
            };
            prop_assert_eq!(before.len(), after.len());
            prop_assert!((right(&before) - right(&after)).abs() < 1e-9);
        }
    }
}
