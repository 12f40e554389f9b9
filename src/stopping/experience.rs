//! How often answers with so much agreement were right, as far as this user has said what became of theirs.
//!
//! Few answers were graded at each level of agreement. So each level is drawn towards all of them together, and levels that contradict
//! the order (more agreement, yet less often right) are taken as one (isotonic regression by pooling adjacent violators, weighted by count).

use super::calibration::Level;

/// From so many graded answers on, a user's own experience says more than what is known of models in general.
pub const ENOUGH: usize = 50;

/// Answers that each level is taken to have beside its own, of which as many were right as of all together (an m-estimate with m = 2).
const BORROWED: f64 = 2.0;

/// What was graded, in order: more agreement never means less often right.
#[derive(Clone, Debug, PartialEq)]
pub struct Experience {
    graded: usize,
    /// Each from its agreement on, in whole percents, ascending.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    percent: u64,
    count: f64,
    right: f64,
}

impl Experience {
    /// `None` as long as too few answers have been graded.
    pub fn of(levels: &[Level]) -> Option<Self> {
        let levels: Vec<Level> = sorted(levels);
        let graded = levels.iter().map(|level| level.count).sum();
        (graded >= ENOUGH).then(|| Self { graded, steps: isotonic(&smoothed(&levels)) })
    }

    pub fn graded(&self) -> usize {
        self.graded
    }

    /// How often answers with this agreement were right: those of the highest level that is not above it, or of the lowest.
    pub fn right_at(&self, agreement: f64) -> Option<f64> {
        let reached = percent(agreement);
        let below = self.steps.iter().rev().find(|step| step.percent <= reached);
        below.or(self.steps.first()).map(|step| step.right)
    }
}

/// Those that say something, in an order that does not depend on how they came, so that sums do not either.
fn sorted(levels: &[Level]) -> Vec<Level> {
    let in_range = |number: &f64| (0.0..=1.0).contains(number);
    let says_something = |level: &&Level| level.count > 0 && in_range(&level.agreement) && in_range(&level.mean_right);
    let mut levels: Vec<Level> = levels.iter().filter(says_something).copied().collect();
    let by_agreement = |one: &Level, other: &Level| percent(one.agreement).cmp(&percent(other.agreement));
    levels
        .sort_by(|one, other| by_agreement(one, other).then(one.count.cmp(&other.count)).then(one.mean_right.total_cmp(&other.mean_right)));
    levels
}

/// One step a percentage, each drawn towards all of them.
fn smoothed(levels: &[Level]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for level in levels {
        let step = Step { percent: percent(level.agreement), count: number(level.count), right: level.mean_right };
        match steps.last_mut().filter(|last| last.percent == step.percent) {
            Some(last) => *last = together(*last, step),
            None => steps.push(step),
        }
    }
    let Some(all) = steps.iter().copied().reduce(together) else { return steps };
    // Before the first answer, right and wrong are taken to be as likely: nothing that was graded makes certain.
    let overall = (all.count * all.right + 1.0) / (all.count + 2.0);
    let draw = |step: &Step| Step { right: (step.count * step.right + BORROWED * overall) / (step.count + BORROWED), ..*step };
    steps.iter().map(draw).collect()
}

/// Neighbours that contradict the order become one, until none does. Each percentage keeps its own step.
fn isotonic(steps: &[Step]) -> Vec<Step> {
    let mut blocks: Vec<(Step, Vec<u64>)> = Vec::new();
    for step in steps {
        let (mut block, mut percents) = (*step, vec![step.percent]);
        while let Some((before, mut its)) = blocks.pop_if(|(before, _)| before.right >= block.right) {
            block = together(before, block);
            its.append(&mut percents);
            percents = its;
        }
        blocks.push((block, percents));
    }
    blocks.into_iter().flat_map(|(block, percents)| percents.into_iter().map(move |percent| Step { percent, ..block })).collect()
}

fn together(one: Step, other: Step) -> Step {
    let count = one.count + other.count;
    Step { percent: one.percent, count, right: (one.count * one.right + other.count * other.right) / count }
}

/// Levels are told apart in whole percents, so that 2 of 3 is the same level however its binary fraction was rounded.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1: anything else is cut off")]
fn percent(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * 100.0).round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "nobody grades 2^53 answers")]
fn number(count: usize) -> f64 {
    count as f64
}
