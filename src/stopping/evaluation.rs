//! What every decision to stop leaves behind: all rules that were looked at, and what follows from
//! them.
//!
//! An evaluation is made of recorded evidence alone, so that it can be printed, logged and made
//! again later with the same result.
//!
//! Invariants: what could not be measured fires nothing and holds nothing; numbers are compared as
//! integers, so that a threshold that is met exactly is met; work that is done is never said to
//! have run into a limit at the same moment.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::domain::confidence::Confidence;

mod in_words;

/// Every rule with what it found, and the decision.
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

    /// The guards that object, those that could not be measured among them.
    pub fn unmet_guards(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.objects())
    }
}

/// One rule as it was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// In lower case with underscores.
    pub name: String,
    pub kind: RuleKind,
    /// What is measured, in words.
    pub metric: String,
    /// `None` when it could not be measured; then nothing follows from it.
    pub value: Option<Value>,
    pub bound: Bound,
    pub threshold: Value,
    pub outcome: RuleOutcome,
    /// What the value was made of, where the value alone does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What it means that a rule fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// The work is done.
    Success,
    /// The work has gone on for long enough, or badly enough.
    Limit,
    /// What a success rests on is missing: a reason not to stop yet.
    Guard,
}

/// How a value compares with its threshold when all is well: a success fires within its bound, a
/// limit and a guard outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

/// A measured value. Shares are kept as the numbers that they are made of, and compared without
/// rounding.
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
    /// What it measures is not known: it can neither fire nor hold.
    Unknown,
    NotApplicable,
}

/// What follows.
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

/// Why work stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// What was to be done is done.
    Done,
    /// More work would change little.
    Converged,
    /// A budget of iterations or attempts is used up.
    Exhausted,
    /// It goes so badly that it must not go on.
    Halted,
    /// Nothing changes any more.
    Stalled,
    NeedsHuman,
    /// A person wanted it to end.
    Cancelled,
}

impl Rule {
    /// Looks at what was measured. Without a value, or with one that cannot be compared, the
    /// outcome is not known.
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

    /// The same rule where there is nothing to measure, and nothing missing either.
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

    /// Whether it is a guard that does not agree to a success.
    fn objects(&self) -> bool {
        self.kind == RuleKind::Guard
            && matches!(self.outcome, RuleOutcome::Fired | RuleOutcome::Unknown)
    }
}

impl Bound {
    /// Whether the value is within the bound; `None` when the two cannot be compared.
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

/// What a whole is divided into where a value is a decimal fraction.
pub(super) const MILLION: u64 = 1_000_000;

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

    /// A decimal fraction, to the nearest millionth: as it is written, whatever it is in binary.
    pub fn decimal(confidence: Confidence) -> Self {
        Self::Share {
            part: confidence.millionths(),
            of: MILLION,
        }
    }

    /// `None` for a share of nothing.
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

/// Rules in the order in which they are looked at, and what each is a reason for.
#[derive(Debug, Default)]
pub struct Checks {
    rules: Vec<Rule>,
    /// What the rules with these numbers lead to when they fire.
    endings: Vec<(usize, Class, String)>,
}

impl Checks {
    /// A rule that is a reason to stop when it fires: a success or a limit.
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

    /// The first success that fired decides, unless a guard objects; else the first limit that
    /// fired.
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
