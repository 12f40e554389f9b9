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
pub struct Experience {
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

impl Experience {
    /// Returns `None` until enough answers have been graded.
    pub fn of(levels: &[Level]) -> Option<Self> {
        let levels: Vec<Level> = sorted(levels);
        let graded = levels.iter().map(|level| level.count).sum();
        (graded >= ENOUGH).then(|| Self {
            graded,
            steps: isotonic(&smoothed(&levels)),
        })
    }

    /// Returns the share of right answers at this agreement, by the highest level that is not above
    /// it, or the lowest level.
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
    let by_agreement =
        |one: &Level, other: &Level| percent(one.agreement).cmp(&percent(other.agreement));
    levels.sort_by(|one, other| {
        by_agreement(one, other)
            .then(one.count.cmp(&other.count))
            .then(one.mean_right.total_cmp(&other.mean_right))
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
    blocks
        .into_iter()
        .flat_map(|(block, percents)| {
            percents
                .into_iter()
                .map(move |percent| Step { percent, ..block })
        })
        .collect()
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

/// The highest probability of being right that one vote can contribute.
///
/// With ρ = 0.44, panels of five and of seven models that all agreed were right in 90.9 % and 92.0
/// % of cases (MMLU-Pro, replayed on recorded answers). Both follow from the same vote: ln(0.909 /
/// 0.091) over 1.81 effective votes and ln(0.92 / 0.08) over 1.92 are 1.27, which are the log-odds
/// of 0.78.
pub const MOST_OF_ONE_VOTE: f64 = 0.78;

/// A vote for or against an answer, with its confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vote {
    pub stands: Stands,
    /// From 0 to 1; `None` if not stated, which gives the vote no weight.
    pub confidence: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    For,
    Against,
}

/// Returns the probability that the answer is right, above 0 and below 1.
pub fn pooled(votes: &[Vote], correlation: f64) -> f64 {
    let sum: f64 = votes.iter().map(|vote| vote.log_odds()).sum();
    let share = effective_voters(votes.len(), correlation) / number(votes.len().max(1));
    sigmoid(share * sum).clamp(f64::EPSILON, 1.0 - f64::EPSILON)
}

/// Returns the number of independent votes that carry as much evidence as `voters` votes that
/// correlate by `correlation`, from 0 to 1.
pub fn effective_voters(voters: usize, correlation: f64) -> f64 {
    let voters = number(voters);
    voters / (1.0 + (voters - 1.0).max(0.0) * correlation)
}

impl Vote {
    fn log_odds(self) -> f64 {
        // A confidence below one half names no other answer, so it does not count for the other
        // side.
        let odds = self.confidence.map_or(0.0, |confidence| {
            logit(confidence.clamp(0.5, MOST_OF_ONE_VOTE))
        });
        match self.stands {
            Stands::For => odds,
            Stands::Against => -odds,
        }
    }
}

fn logit(probability: f64) -> f64 {
    (probability / (1.0 - probability)).ln()
}

fn sigmoid(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
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
        Experience::of(levels).unwrap().right_at(agreement).unwrap()
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    #[test]
    fn fifty_graded_answers_are_enough_and_fewer_are_not() {
        assert_eq!(
            Experience::of(&[level(1.0, 30, 0.9), level(0.5, 19, 0.5)]),
            None
        );
        assert_eq!(
            Experience::of(&[level(1.0, 30, 0.9), level(0.5, 20, 0.5)])
                .unwrap()
                .graded,
            50
        );
        assert_eq!(Experience::of(&[]), None);
        assert_eq!(
            Experience::of(&[level(1.5, 60, 0.9), level(1.0, 60, f64::NAN)]),
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
            let experience = Experience::of(&levels).unwrap();
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
            prop_assert_eq!(Experience::of(&levels.0), Experience::of(&levels.1));
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

#[cfg(test)]
mod pooling_tests {
    use proptest::prelude::*;

    use super::*;

    fn vote(stands: Stands, confidence: f64) -> Vote {
        Vote {
            stands,
            confidence: Some(confidence),
        }
    }

    /// Generates any vote that an expert can give.
    fn any_vote() -> impl Strategy<Value = Vote> {
        let stands = prop_oneof![Just(Stands::For), Just(Stands::Against)];
        (stands, prop::option::weighted(0.8, 0.0..=1.0))
            .prop_map(|(stands, confidence)| Vote { stands, confidence })
    }

    fn panel() -> impl Strategy<Value = Vec<Vote>> {
        prop::collection::vec(any_vote(), 1..12)
    }

    /// Rounding of the last digits.
    const TINY: f64 = 1e-12;

    #[test]
    fn one_vote_matches_unanimous_panels_of_five_and_seven() {
        for (voters, right) in [(5, 0.909), (7, 0.920)] {
            let one = sigmoid(logit(right) / effective_voters(voters, 0.44));
            assert_eq!(
                format!("{one:.2}"),
                MOST_OF_ONE_VOTE.to_string(),
                "{voters} voters"
            );
            let pooled = pooled(&vec![vote(Stands::For, 1.0); voters], 0.44);
            assert!((pooled - right).abs() < 0.001, "{voters} voters: {pooled}");
        }
    }

    #[test]
    fn correlated_voters_count_as_fewer() {
        let rounded = |voters, correlation| format!("{:.2}", effective_voters(voters, correlation));
        assert_eq!([rounded(5, 0.44), rounded(7, 0.44)], ["1.81", "1.92"]);
        assert_eq!(
            [
                rounded(7, 0.0),
                rounded(7, 1.0),
                rounded(1, 0.44),
                rounded(0, 0.44)
            ],
            ["7.00", "1.00", "1.00", "0.00"]
        );
    }

    #[test]
    fn votes_without_confidence_decide_nothing() {
        let silent = Vote {
            stands: Stands::For,
            confidence: None,
        };
        let even = |found: f64| (found - 0.5).abs() < TINY;
        assert!(
            even(pooled(&[], 0.44))
                && even(pooled(&[silent], 0.44))
                && even(pooled(&[vote(Stands::Against, 0.2)], 0.44))
        );
        let pair = [vote(Stands::For, 0.7), vote(Stands::Against, 0.7)];
        assert!(even(pooled(&pair, 0.3)), "and equal ones cancel each other");
    }

    proptest! {
        #[test]
        fn another_supporter_never_lowers_the_probability(
            mut votes in panel(),
            at: prop::sample::Index,
            correlation in 0.0..=1.0,
        ) {
            let at = at.index(votes.len());
            votes[at].stands = Stands::Against;
            let before = pooled(&votes, correlation);
            votes[at].stands = Stands::For;
            prop_assert!(pooled(&votes, correlation) >= before - TINY);
        }

        #[test]
        fn a_more_confident_supporter_never_lowers_the_probability(
            mut votes in panel(),
            at: prop::sample::Index,
            less in 0.0..=1.0,
            more in 0.0..=1.0,
            correlation in 0.0..=1.0,
        ) {
            let at = at.index(votes.len());
            votes[at] = vote(Stands::For, f64::min(less, more));
            let before = pooled(&votes, correlation);
            votes[at] = vote(Stands::For, f64::max(less, more));
            prop_assert!(pooled(&votes, correlation) >= before - TINY);
        }

        #[test]
        fn the_correlation_limits_the_probability(votes in panel(), correlation in 0.01..0.99) {
            let found = pooled(&votes, correlation);
            let of_so_many =
                sigmoid(logit(MOST_OF_ONE_VOTE) * effective_voters(votes.len(), correlation));
            let of_any_number = sigmoid(logit(MOST_OF_ONE_VOTE) / correlation);
            prop_assert!(
                found <= of_so_many + TINY && found < of_any_number + TINY,
                "{found} {of_so_many} {of_any_number}"
            );
            prop_assert!(found >= 1.0 - of_so_many - TINY, "{found}");
        }

        #[test]
        fn the_correlation_limits_any_number_of_voters(
            voters in 1..10_000_usize,
            correlation in 0.05..0.99,
        ) {
            let found = pooled(&vec![vote(Stands::For, 1.0); voters], correlation);
            prop_assert!(
                found < sigmoid(logit(MOST_OF_ONE_VOTE) / correlation),
                "{found}"
            );
        }

        #[test]
        fn without_correlation_the_odds_multiply(votes in panel()) {
            let odds = |vote: &Vote| {
                let stated = vote.confidence.unwrap_or(0.5).clamp(0.5, 0.78);
                match vote.stands {
                    Stands::For => stated / (1.0 - stated),
                    Stands::Against => (1.0 - stated) / stated,
                }
            };
            let product: f64 = votes.iter().map(odds).product();
            prop_assert!((pooled(&votes, 0.0) - product / (1.0 + product)).abs() < TINY);
        }

        #[test]
        fn the_result_is_a_probability_and_never_certain(
            votes in prop::collection::vec(any_vote(), 0..200), correlation in 0.0..=1.0, all: bool,
        ) {
            let votes = if all { vec![vote(Stands::For, 1.0); votes.len()] } else { votes };
            let found = pooled(&votes, if all { 0.0 } else { correlation });
            prop_assert!(0.0 < found && found < 1.0, "{found}");
        }

        #[test]
        fn a_single_vote_does_not_depend_on_the_correlation(
            one in any_vote(),
            correlation in 0.0..=1.0,
        ) {
            prop_assert!((pooled(&[one], correlation) - pooled(&[one], 0.0)).abs() < TINY);
        }
    }
}
