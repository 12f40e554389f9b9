//! Decides whether a debate may end after the judge has found agreement.
//!
//! The judge's stated confidence is weak evidence, since stated confidence is inflated, and panels
//! of models that all agreed were wrong in 8 to 9 of 100 cases (MMLU-Pro, replayed for panels of
//! five and seven). So it is necessary but not sufficient: guards check its basis. The caller
//! decides whether a person may end a debate against the guards.

use serde::{Deserialize, Serialize};

use crate::domain::answer::confidence::{Basis, Calibrated, Confidence};

use super::calibration::Level;
use super::evaluation::{
    Bound, Checks, Class, Evaluation, MILLION, Rule, RuleKind, RuleOutcome, Value,
};
use super::experience::AgreementExperience;
use super::{agreement, number, share};

use rubber_stamp::rubber_stamp;

mod rubber_stamp;

/// Rules of early termination: who decides, the confidence required, and the trust in agreement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TerminationRule {
    pub policy: Policy,
    /// The lowest stated confidence at which an early end is considered.
    pub threshold: Confidence,
    /// The share of the user's own answers that were right, by agreement; empty until enough have
    /// been graded.
    pub experience: Vec<Level>,
}

/// The party that decides on an early end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// A person if one can be asked, else the guards.
    Ask,
    /// The guards.
    Auto,
    /// No debate ends early.
    Never,
}

impl TerminationRule {
    pub const USUAL_THRESHOLD: f64 = 0.90;

    pub fn usual() -> Self {
        Self {
            policy: Policy::Ask,
            threshold: Confidence::new(Self::USUAL_THRESHOLD).unwrap_or_default(),
            experience: Vec::new(),
        }
    }
}

/// Never ends early. Journals without these rules have this behaviour.
impl Default for TerminationRule {
    fn default() -> Self {
        Self {
            policy: Policy::Never,
            ..Self::usual()
        }
    }
}

/// Input of the rules, recorded in the first two rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgreementEvidence {
    /// The points of agreement that the judge found.
    pub points: Vec<Point>,
    /// The number of experts with an answer in the first round.
    pub answered: usize,
    /// The number of makers of their models.
    pub families: usize,
    /// The number of seats that failed, whose answer was degraded, or whose model is of
    /// demonstration quality, the judge's included.
    pub troubled: usize,
    /// Whether the judge's stated confidences carry no information.
    pub uninformative_judge: bool,
    pub tensions: usize,
    pub high_tensions: usize,
    /// One for each expert that answered.
    pub statements: Vec<Statement>,
}

/// A point on which experts agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The confidence that the judge states.
    pub confidence: Option<Confidence>,
    /// The number of experts that answered and support it.
    pub supporters: usize,
}

/// An expert's answer before it saw any other.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub confidence: Option<Confidence>,
    pub text: String,
}

/// The name of the rule that must fire for a debate to end.
const STATED: &str = "stated_confidence";

impl Evaluation {
    /// Returns whether the stated confidence reached its threshold, regardless of the guards.
    pub fn stated_is_met(&self) -> bool {
        self.rule(STATED)
            .is_some_and(|rule| rule.outcome == RuleOutcome::Fired)
    }
}

/// The one with the highest stated confidence, the first of equals, as in `Synthesis::leading`.
fn leading(points: &[Point]) -> Option<&Point> {
    // An unstated confidence is below any stated one.
    let stated = |point: &&Point| point.confidence.map(Confidence::millionths);
    points.iter().rev().max_by_key(stated)
}

/// `None` if it states none that carries information.
pub fn judges_confidence(evidence: &AgreementEvidence) -> Option<Confidence> {
    stated_confidence(&evidence.points).filter(|_| !evidence.uninformative_judge)
}

/// 0 without points, `None` if no point states one.
pub fn stated_confidence(points: &[Point]) -> Option<Confidence> {
    mean(points).and_then(|(part, of)| Confidence::new(share(part, of)?))
}

/// Returns the mean as a share of millionths.
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

/// `None` without a point or a second answer, and if the judge's confidences carry no information.
pub fn calibrated(rule: &TerminationRule, evidence: &AgreementEvidence) -> Option<Calibrated> {
    let answered = evidence.answered;
    let supporters = leading(&evidence.points)?.supporters;
    if evidence.uninformative_judge || answered < 2 {
        return None;
    }
    let (probability, basis) = match AgreementExperience::of(&rule.experience) {
        Some(experience) => {
            let agreement = number(supporters) / number(answered);
            let graded = experience.graded;
            (
                experience.right_at(agreement)?,
                Basis::Experience { graded, agreement },
            )
        }
        None => (
            agreement::probability(supporters, answered)?,
            Basis::Panels {
                supporters,
                answered,
            },
        ),
    };
    Some(Calibrated { probability, basis })
}

pub fn evaluate(rule: &TerminationRule, evidence: &AgreementEvidence) -> Evaluation {
    let value = mean(&evidence.points)
        .filter(|_| !evidence.uninformative_judge)
        .map(|(part, of)| Value::Share { part, of });
    let stated = Rule::new(
        RuleKind::Success,
        STATED,
        "mean confidence of what is agreed",
    )
    .measured(value, Bound::AtLeast, Value::decimal(rule.threshold));
    let message = format!(
        "stated confidence {}, and no guard objects",
        stated.measure_in_words()
    );
    let checks = Checks::default()
        .with(stated, Some(Class::Converged))
        .message(message)
        .guard(&[STATED], "answers")
        .of("experts that answered")
        .at_least(Value::count(evidence.answered), 2)
        .guard(&[STATED], "families")
        .of("families of the models that answered")
        .at_least(Value::count(evidence.families), 2)
        .guard(&[STATED], "troubled_seats")
        .of("seats that failed, answered badly or run the local model")
        .at_most(Value::count(evidence.troubled), 0)
        .guard(&[STATED], "support")
        .of("experts behind the strongest point")
        .at_least(
            leading(&evidence.points)
                .map(|point| Value::share(point.supporters, evidence.answered)),
            Value::share(evidence.answered, evidence.answered),
        )
        .guard(&[STATED], "high_tensions")
        .of("tensions of high severity")
        .at_most(Value::count(evidence.high_tensions), 0);
    rubber_stamp(checks, evidence).evaluation()
}

#[cfg(test)]
mod tests;
