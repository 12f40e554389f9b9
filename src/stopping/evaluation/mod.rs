//! The evaluation behind every decision to stop: all rules that were checked, and the decision.
//!
//! An evaluation uses only recorded evidence, so that it can be printed, logged and repeated later
//! with the same result.
//!
//! Invariants: a rule without a measured value neither fires nor holds; numbers are compared as
//! integers, so that a threshold that is met exactly is met; success takes precedence over a limit
//! that is reached at the same moment.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::domain::confidence::Confidence;

mod in_words;

/// Every rule with its outcome, and the decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    pub rules: Vec<Rule>,
    pub decision: Decision,
}

impl Evaluation {
    pub fn stops(&self) -> bool {
        matches!(self.decision, Decision::Stop { .. })
    }

    pub fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// Returns the guards that object, including those that could not be measured.
    pub fn unmet_guards(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.objects())
    }
}

/// One evaluated rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// In lower case with underscores.
    pub name: String,
    pub kind: RuleKind,
    /// The measured quantity, in words.
    pub metric: String,
    /// `None` if it could not be measured.
    pub value: Option<Value>,
    pub bound: Bound,
    pub threshold: Value,
    pub outcome: RuleOutcome,
    /// The parts of the value, if it does not show them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The meaning of a rule that fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// The work is done.
    Success,
    /// The work has taken too long or goes too badly.
    Limit,
    /// The basis of a success is missing: a reason not to stop yet.
    Guard,
}

/// The range of good values: a success fires inside it, a limit and a guard outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

/// A measured value. Shares are stored as two integers and compared without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Count(u64),
    Share { part: u64, of: u64 },
}

/// The result of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleOutcome {
    Fired,
    Held,
    /// The value is unknown: the rule neither fires nor holds.
    Unknown,
    NotApplicable,
}

/// The decision that follows from the rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Continue,
    Stop {
        class: Class,
        rule: String,
        value: Option<Value>,
        threshold: Value,
        message: String,
    },
}

/// The reason why work stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The work is complete.
    Done,
    /// More work would change little.
    Converged,
    /// A budget of iterations or attempts is used up.
    Exhausted,
    /// The work goes so badly that it must not continue.
    Halted,
    /// The work no longer makes progress.
    Stalled,
    NeedsHuman,
    /// A person cancelled it.
    Cancelled,
}

impl Rule {
    /// Compares a value with its threshold. The outcome is unknown without a value or if the two
    /// cannot be compared.
    pub fn measured(
        kind: RuleKind,
        name: &str,
        metric: &str,
        value: Option<Value>,
        (bound, threshold): (Bound, Value),
    ) -> Self {
        let outcome = match value.and_then(|value| bound.admits(value, threshold)) {
            None => RuleOutcome::Unknown,
            Some(within) if within == (kind == RuleKind::Success) => RuleOutcome::Fired,
            Some(_) => RuleOutcome::Held,
        };
        Self {
            name: name.to_owned(),
            kind,
            metric: metric.to_owned(),
            value,
            bound,
            threshold,
            outcome,
            detail: None,
        }
    }

    /// Marks the rule as not applicable: there is nothing to measure, and nothing is missing.
    #[must_use]
    pub fn not_applicable(self) -> Self {
        Self {
            value: None,
            outcome: RuleOutcome::NotApplicable,
            detail: None,
            ..self
        }
    }

    #[must_use]
    pub fn with_detail(self, detail: String) -> Self {
        Self {
            detail: Some(detail),
            ..self
        }
    }

    /// Returns whether it is a guard that objects to a success.
    fn objects(&self) -> bool {
        self.kind == RuleKind::Guard
            && matches!(self.outcome, RuleOutcome::Fired | RuleOutcome::Unknown)
    }
}

impl Bound {
    /// Returns whether the value is within the bound; `None` if the two cannot be compared.
    fn admits(self, value: Value, threshold: Value) -> Option<bool> {
        let order = value.compared(threshold)?;
        Some(match self {
            Self::AtLeast => order.is_ge(),
            Self::MoreThan => order.is_gt(),
            Self::AtMost => order.is_le(),
            Self::LessThan => order.is_lt(),
        })
    }
}

/// The denominator of decimal fractions.
pub(crate) const MILLION: u64 = 1_000_000;

impl Value {
    pub fn count(number: usize) -> Self {
        Self::Count(wide(number))
    }

    pub fn share(part: usize, of: usize) -> Self {
        Self::Share {
            part: wide(part),
            of: wide(of),
        }
    }

    /// Returns a decimal fraction, rounded to the nearest millionth so that it equals the written
    /// number.
    pub fn decimal(confidence: Confidence) -> Self {
        Self::Share {
            part: confidence.millionths(),
            of: MILLION,
        }
    }

    /// Returns a share; `None` if the whole is 0.
    pub fn compared(self, other: Self) -> Option<Ordering> {
        let (part, of) = self.fraction()?;
        let (other_part, other_of) = other.fraction()?;
        Some((part * other_of).cmp(&(other_part * of)))
    }

    fn fraction(self) -> Option<(u128, u128)> {
        match self {
            Self::Count(number) => Some((number.into(), 1)),
            Self::Share { of: 0, .. } => None,
            Self::Share { part, of } => Some((part.into(), of.into())),
        }
    }
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Rules in the order of evaluation, with the ending that each leads to.
#[derive(Debug, Default)]
pub struct Checks {
    rules: Vec<Rule>,
    /// The endings of the rules with these indices.
    endings: Vec<(usize, Class, String)>,
}

impl Checks {
    /// Adds a rule that is a reason to stop if it fires: a success or a limit.
    #[must_use]
    pub fn ending(mut self, rule: Rule, class: Class, message: String) -> Self {
        self.endings.push((self.rules.len(), class, message));
        self.rules.push(rule);
        self
    }

    #[must_use]
    pub fn guard(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Evaluates the rules. The first success that fired decides unless a guard objects; else the
    /// first limit that fired.
    pub fn evaluation(self) -> Evaluation {
        let objected = self.rules.iter().any(Rule::objects);
        let first = |kind| {
            self.endings.iter().find_map(|(at, class, message)| {
                let rule = self
                    .rules
                    .get(*at)
                    .filter(|rule| rule.kind == kind && rule.outcome == RuleOutcome::Fired)?;
                Some(Decision::Stop {
                    class: *class,
                    rule: rule.name.clone(),
                    value: rule.value,
                    threshold: rule.threshold,
                    message: message.clone(),
                })
            })
        };
        let success = if objected {
            None
        } else {
            first(RuleKind::Success)
        };
        let decision = success
            .or_else(|| first(RuleKind::Limit))
            .unwrap_or(Decision::Continue);
        Evaluation {
            rules: self.rules,
            decision,
        }
    }
}

#[cfg(test)]
mod tests;
