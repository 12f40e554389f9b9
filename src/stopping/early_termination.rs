//! Whether a debate may end once its judge has found what the experts agree on.
//!
//! What the judge states about an agreement is weak evidence, since stated confidence inflates, and panels of models that all agreed were
//! wrong in 8 to 9 of 100 cases (MMLU-Pro, replayed for panels of five and seven). So it is necessary and not enough: guards look at what
//! it rests on. What is deliberately not here: who decides. That a person may end a debate against the guards is the caller's business.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::domain::confidence::Confidence;

use super::calibration::Level;
use super::evaluation::{Bound, Checks, Class, Evaluation, MILLION, Outcome, Rule, RuleKind, Value, millionths};
use super::experience::Experience;
use super::pooling::{Stands, Voice, effective_voters, pooled};
use super::similarity::least_resemblance;

/// Who decides, from which confidence on, and how far agreement is trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlyStop {
    pub policy: Policy,
    /// The stated confidence from which on it is considered.
    pub threshold: Confidence,
    /// How strongly the errors of experts go together, 0 to 1.
    pub correlation: f64,
    /// How often the user's own answers were right, by agreement; empty as long as too few have been graded.
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

    /// How strongly errors of models go together on MMLU-Pro: two that are both wrong give the same wrong answer in 44 of 100 cases.
    pub const USUAL_CORRELATION: f64 = 0.44;

    /// Takes settings as a person gave them.
    pub fn checked(policy: Policy, threshold: f64, correlation: f64, experience: Vec<Level>) -> Result<Self, BadSetting> {
        let threshold = Confidence::new(threshold).ok_or(BadSetting::Threshold(threshold))?;
        let correlation = Confidence::new(correlation).ok_or(BadSetting::Correlation(correlation))?.value();
        Ok(Self { policy, threshold, correlation, experience })
    }

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
        Self { policy: Policy::Never, ..Self::usual() }
    }
}

/// Why settings cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BadSetting {
    #[error("the confidence threshold is from 0.0 to 1.0, not `{0}`")]
    Threshold(f64),
    #[error("the correlation of experts' errors is from 0.0 to 1.0, not `{0}`")]
    Correlation(f64),
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

/// A confidence above this many millionths, on every side, is a sign of a rubber stamp.
const SURE: u64 = 850_000;

/// Texts that have at least this share of their word trigrams in common are near-identical.
const NEAR_IDENTICAL: Value = Value::Share { part: 600_000, of: MILLION };

impl Evaluation {
    /// Whether the stated confidence reached its threshold, whatever the guards say of it.
    pub fn stated_is_met(&self) -> bool {
        self.rule(STATED).is_some_and(|rule| rule.outcome == Outcome::Fired)
    }
}

/// The number of the strongest point: of the highest stated confidence, the first of equals.
pub fn leading(points: &[Point]) -> Option<usize> {
    let mut best: Option<(usize, Option<u64>)> = None;
    for (at, point) in points.iter().enumerate() {
        let stated = point.confidence.map(millionths);
        // An unstated confidence is below any stated one.
        if best.is_none_or(|(_, highest)| stated > highest) {
            best = Some((at, stated));
        }
    }
    best.map(|(at, _)| at)
}

/// The mean of what is stated of the points: 0 without points, `None` where nothing is stated of any.
#[expect(clippy::cast_precision_loss, reason = "some millions at most")]
pub fn stated_confidence(points: &[Point]) -> Option<Confidence> {
    mean(points).and_then(|(part, of)| Confidence::new(part as f64 / of as f64))
}

/// The mean as a share of millionths.
fn mean(points: &[Point]) -> Option<(u64, u64)> {
    let stated: Vec<u64> = points.iter().filter_map(|point| point.confidence.map(millionths)).collect();
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
    let stated = Rule::measured(RuleKind::Success, STATED, "mean confidence of what is agreed", value, threshold);
    let message = format!("stated confidence {}, and no guard objects", stated.measure_in_words());
    let guard = |name, metric, value, bound, threshold| Rule::measured(RuleKind::Guard, name, metric, value, (bound, threshold));
    let count = |number| Some(Value::count(number));
    let supporters = leading(&evidence.points).and_then(|at| evidence.points.get(at)).map(|point| point.supporters);
    let support = supporters.map(|supporters| Value::share(supporters, evidence.answered));
    Checks::default()
        .ending(stated, Class::Converged, message)
        .guard(guard("answers", "experts that answered", count(evidence.answered), Bound::AtLeast, Value::Count(2)))
        .guard(guard("families", "families of the models that answered", count(evidence.families), Bound::AtLeast, Value::Count(2)))
        .guard(guard("troubled_seats", "seats that failed or answered badly", count(evidence.troubled), Bound::AtMost, Value::Count(0)))
        .guard(guard(
            "support",
            "experts behind the strongest point",
            support,
            Bound::AtLeast,
            Value::share(evidence.answered, evidence.answered),
        ))
        .guard(guard("high_tensions", "tensions of high severity", count(evidence.high_tensions), Bound::AtMost, Value::Count(0)))
        .guard(rubber_stamp(evidence))
        .evaluation()
}

/// Agreement that was never tested: everybody sure, nothing in dispute, and all in the same words.
fn rubber_stamp(evidence: &Evidence) -> Rule {
    let statements = &evidence.statements;
    let texts: Vec<&str> = statements.iter().map(|statement| statement.text.as_str()).filter(|text| !text.trim().is_empty()).collect();
    let least = least_resemblance(texts.iter().copied());
    let signs = [all_sure(statements), Some(evidence.tensions == 0), least.map(is_near_identical)];
    let seen = signs.iter().filter(|sign| **sign == Some(true)).count();
    // Where one sign is missing, it does not matter that another is not known.
    let is_open = signs.contains(&None) && !signs.contains(&Some(false));
    let value = (!is_open).then(|| Value::share(seen, signs.len()));
    let all = (Bound::LessThan, Value::share(signs.len(), signs.len()));
    let rule = Rule::measured(RuleKind::Guard, "rubber_stamp", "signs of a rubber stamp", value, all);
    match least {
        Some(least) => rule.with_detail(format!(
            "lowest stated confidence: {}, tensions: {}, least likeness of two answers: {}",
            lowest(statements).map_or_else(|| "none".to_owned(), |lowest| Value::decimal(lowest).in_decimals(2)),
            evidence.tensions,
            least.in_decimals(2),
        )),
        None => rule.not_applicable(),
    }
}

/// `None` when one that did not say might not be sure.
fn all_sure(statements: &[Statement]) -> Option<bool> {
    let is_sure = |confidence| millionths(confidence) > SURE;
    let said: Vec<Option<bool>> = statements.iter().map(|statement| statement.confidence.map(is_sure)).collect();
    if said.contains(&Some(false)) { Some(false) } else { (!said.contains(&None)).then_some(true) }
}

fn is_near_identical(resemblance: Value) -> bool {
    resemblance.compared(NEAR_IDENTICAL).is_some_and(Ordering::is_ge)
}

fn lowest(statements: &[Statement]) -> Option<Confidence> {
    statements.iter().filter_map(|statement| statement.confidence).min_by(|one, other| one.value().total_cmp(&other.value()))
}

/// How likely the strongest point is right, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Above 0 and below 1.
    pub probability: f64,
    pub basis: Basis,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// What the experts stated before they knew of each other, shrunk by how far their errors go together.
    Pool { correlation: f64, effective_voters: f64 },
    /// What became of the user's own answers with as much agreement.
    Experience { graded: usize, agreement: f64 },
}

/// The calibrated probability of the strongest point; `None` where there is none, or where nobody answered.
pub fn calibrated(rule: &EarlyStop, evidence: &Evidence) -> Option<Calibrated> {
    let point = evidence.points.get(leading(&evidence.points)?)?;
    if evidence.answered == 0 || evidence.statements.is_empty() {
        return None;
    }
    if let Some(experience) = Experience::of(&rule.experience) {
        let agreement = share(point.supporters, evidence.answered);
        let probability = experience.right_at(agreement)?;
        return Some(Calibrated { probability, basis: Basis::Experience { graded: experience.graded(), agreement } });
    }
    let voices: Vec<Voice> = evidence.statements.iter().map(voice).collect();
    let correlation = rule.correlation;
    let basis = Basis::Pool { correlation, effective_voters: effective_voters(voices.len(), correlation) };
    Some(Calibrated { probability: pooled(&voices, correlation), basis })
}

fn voice(statement: &Statement) -> Voice {
    let stands = if statement.supports_leading { Stands::For } else { Stands::Against };
    Voice { stands, confidence: statement.confidence.map(Confidence::value) }
}

#[expect(clippy::cast_precision_loss, reason = "nobody seats 2^53 experts")]
fn share(part: usize, of: usize) -> f64 {
    (part as f64 / of as f64).min(1.0)
}
