//! One rule: a measured value, its bound, and what follows from the two.

use serde::{Deserialize, Serialize};

use super::value::Value;

/// One evaluated rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rule {
    /// In lower case with underscores, the same in all versions: `all_tasks_done`.
    pub name: String,
    pub kind: RuleKind,
    /// The successes that a guard guards, by name; empty for every success, and then absent from
    /// the JSON. Only guards have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<String>,
    /// The measured quantity, in words.
    pub metric: String,
    /// `None` if it could not be measured.
    pub value: Option<Value>,
    pub bound: Bound,
    pub threshold: Value,
    pub outcome: RuleOutcome,
    /// The parts of the value; absent if it shows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub detail: Option<String>,
}

/// The meaning of a rule that fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
    /// Equal to the threshold; the only bounds of words are this one and the next.
    Is,
    IsNot,
}

/// The result of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuleOutcome {
    Fired,
    Held,
    /// The value is unknown: the rule neither fires nor holds.
    Unknown,
    NotApplicable,
}

impl Rule {
    pub fn new(kind: RuleKind, name: &str, metric: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            guards: Vec::new(),
            metric: metric.to_owned(),
            value: None,
            bound: Bound::Is,
            threshold: Value::word("unknown"),
            outcome: RuleOutcome::Unknown,
            detail: None,
        }
    }

    /// The outcome is unknown without a value or if the two cannot be compared.
    #[must_use]
    pub fn measured(self, value: Option<Value>, bound: Bound, threshold: Value) -> Self {
        let admits = |value| bound.admits(value, &threshold);
        let outcome = match value.as_ref().and_then(admits) {
            None => RuleOutcome::Unknown,
            Some(within) if within == (self.kind == RuleKind::Success) => RuleOutcome::Fired,
            Some(_) => RuleOutcome::Held,
        };
        Self {
            value,
            bound,
            threshold,
            outcome,
            ..self
        }
    }

    /// Limits a guard to the successes with these names.
    #[must_use]
    pub fn guarding(self, successes: &[&str]) -> Self {
        Self {
            guards: successes.iter().map(|&name| name.to_owned()).collect(),
            ..self
        }
    }

    /// Marks the rule as not applicable: there is nothing to measure, and nothing is missing.
    pub(super) fn clear(&mut self) {
        (self.value, self.detail) = (None, None);
        self.outcome = RuleOutcome::NotApplicable;
    }

    pub fn objects(&self) -> bool {
        self.kind == RuleKind::Guard
            && matches!(self.outcome, RuleOutcome::Fired | RuleOutcome::Unknown)
    }

    pub(super) fn objects_to(&self, success: &str) -> bool {
        let is_guarded = self.guards.is_empty() || self.guards.iter().any(|name| name == success);
        self.objects() && is_guarded
    }
}

impl Bound {
    /// `None` if the two cannot be compared.
    fn admits(self, value: &Value, threshold: &Value) -> Option<bool> {
        Some(match self {
            Self::AtLeast => value.compared(threshold)?.is_ge(),
            Self::MoreThan => value.compared(threshold)?.is_gt(),
            Self::AtMost => value.compared(threshold)?.is_le(),
            Self::LessThan => value.compared(threshold)?.is_lt(),
            Self::Is => value.equals(threshold)?,
            Self::IsNot => !value.equals(threshold)?,
        })
    }
}
