//! Whether a debate may end once its judge has found what the experts agree on.
//!
//! What the judge states about an agreement is weak evidence, since stated confidence inflates, and
//! panels of models that all agreed were wrong in 8 to 9 of 100 cases (MMLU-Pro, replayed for
//! panels of five and seven). So it is necessary and not enough: guards look at what it rests on.
//! What is deliberately not here: who decides. That a person may end a debate against the guards is
//! the caller's business.

use serde::{Deserialize, Serialize};

use crate::domain::confidence::Confidence;

use super::calibration::Level;
use super::evaluation::{
    Bound, Checks, Class, Evaluation, MILLION, Rule, RuleKind, RuleOutcome, Value,
};

use rubber_stamp::rubber_stamp;

pub use calibrated::{Basis, Calibrated, calibrated};

mod calibrated;
mod rubber_stamp;

/// Who decides, from which confidence on, and how far agreement is trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlyStop {
    pub policy: Policy,
    /// The stated confidence from which on it is considered.
    pub threshold: Confidence,
    /// How strongly the errors of experts go together, 0 to 1.
    pub correlation: f64,
    /// How often the user's own answers were right, by agreement; empty as long as too few have
    /// been graded.
    pub experience: Vec<Level>,
}

/// Who decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// A person where there is one, else the guards.
    Ask,
    /// The guards.
    Auto,
    /// It never ends early.
    Never,
}

impl EarlyStop {
    /// 0.90, the figure of the original design.
    pub const USUAL_THRESHOLD: f64 = 0.90;

    /// How strongly errors of models go together on MMLU-Pro: two that are both wrong give the same
    /// wrong answer in 44 of 100 cases.
    pub const USUAL_CORRELATION: f64 = 0.44;

    /// The tool's own defaults.
    pub fn usual() -> Self {
        Self {
            policy: Policy::Ask,
            threshold: Confidence::new(Self::USUAL_THRESHOLD).unwrap_or_default(),
            correlation: Self::USUAL_CORRELATION,
            experience: Vec::new(),
        }
    }
}

/// Never: what every consultation did before there was a choice.
impl Default for EarlyStop {
    fn default() -> Self {
        Self {
            policy: Policy::Never,
            ..Self::usual()
        }
    }
}

/// What the rules look at, as it is recorded of the first two rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// What the judge found agreed.
    pub points: Vec<Point>,
    /// Experts with an answer in the first round.
    pub answered: usize,
    /// Makers of models among them.
    pub families: usize,
    /// Seats that failed, or whose answer was degraded; the judge's among them.
    pub troubled: usize,
    pub tensions: usize,
    pub high_tensions: usize,
    /// One for each expert that answered.
    pub statements: Vec<Statement>,
}

/// Something that experts agree on.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The judge's.
    pub confidence: Option<Confidence>,
    /// Experts that answered and support it.
    pub supporters: usize,
}

/// What an expert said before it knew of any other.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub confidence: Option<Confidence>,
    /// Whether it supports the strongest point.
    pub supports_leading: bool,
    pub text: String,
}

/// The name of the rule that has to fire for a debate to end.
const STATED: &str = "stated_confidence";

impl Evaluation {
    /// Whether the stated confidence reached its threshold, whatever the guards say of it.
    pub fn stated_is_met(&self) -> bool {
        self.rule(STATED)
            .is_some_and(|rule| rule.outcome == RuleOutcome::Fired)
    }
}

/// The number of the strongest point: of the highest stated confidence, the first of equals; as
/// `Synthesis::leading` has it.
fn leading(points: &[Point]) -> Option<usize> {
    let mut best: Option<(usize, Option<u64>)> = None;
    for (at, point) in points.iter().enumerate() {
        let stated = point.confidence.map(Confidence::millionths);
        // An unstated confidence is below any stated one.
        if best.is_none_or(|(_, highest)| stated > highest) {
            best = Some((at, stated));
        }
    }
    best.map(|(at, _)| at)
}

/// The mean of what is stated of the points: 0 without points, `None` where nothing is stated of
/// any.
#[expect(clippy::cast_precision_loss, reason = "some millions at most")]
pub fn stated_confidence(points: &[Point]) -> Option<Confidence> {
    mean(points).and_then(|(part, of)| Confidence::new(part as f64 / of as f64))
}

/// The mean as a share of millionths.
fn mean(points: &[Point]) -> Option<(u64, u64)> {
    let stated: Vec<u64> = points
        .iter()
        .filter_map(|point| point.confidence.map(Confidence::millionths))
        .collect();
    match (points, stated.as_slice()) {
        ([], _) => Some((0, MILLION)),
        (_, []) => None,
        (_, stated) => Some((stated.iter().sum(), stated.iter().map(|_| MILLION).sum())),
    }
}

/// Looks at every rule.
pub fn evaluate(rule: &EarlyStop, evidence: &Evidence) -> Evaluation {
    let value = mean(&evidence.points).map(|(part, of)| Value::Share { part, of });
    let threshold = (Bound::AtLeast, Value::decimal(rule.threshold));
    let stated = Rule::measured(
        RuleKind::Success,
        STATED,
        "mean confidence of what is agreed",
        value,
        threshold,
    );
    let message = format!(
        "stated confidence {}, and no guard objects",
        stated.measure_in_words()
    );
    let guard = |name, metric, value, bound, threshold| {
        Rule::measured(RuleKind::Guard, name, metric, value, (bound, threshold))
    };
    let count = |number| Some(Value::count(number));
    let supporters = leading(&evidence.points)
        .and_then(|at| evidence.points.get(at))
        .map(|point| point.supporters);
    let support = supporters.map(|supporters| Value::share(supporters, evidence.answered));
    Checks::default()
        .ending(stated, Class::Converged, message)
        .guard(guard(
            "answers",
            "experts that answered",
            count(evidence.answered),
            Bound::AtLeast,
            Value::Count(2),
        ))
        .guard(guard(
            "families",
            "families of the models that answered",
            count(evidence.families),
            Bound::AtLeast,
            Value::Count(2),
        ))
        .guard(guard(
            "troubled_seats",
            "seats that failed or answered badly",
            count(evidence.troubled),
            Bound::AtMost,
            Value::Count(0),
        ))
        .guard(guard(
            "support",
            "experts behind the strongest point",
            support,
            Bound::AtLeast,
            Value::share(evidence.answered, evidence.answered),
        ))
        .guard(guard(
            "high_tensions",
            "tensions of high severity",
            count(evidence.high_tensions),
            Bound::AtMost,
            Value::Count(0),
        ))
        .guard(rubber_stamp(evidence))
        .evaluation()
}

#[cfg(test)]
mod tests;
