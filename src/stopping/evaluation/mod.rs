//! The evaluation behind every decision to stop: all rules that were checked, and the decision.
//!
//! A policy states its rules in order of priority with [`Checks`]. An evaluation uses only recorded
//! evidence, so that it can be printed, logged and repeated later with the same result.
//!
//! Invariants: a rule without a measured value neither fires nor holds; values are compared
//! exactly, so that a threshold that is met exactly is met; what cannot be compared is unknown.

use serde::{Deserialize, Serialize};

use crate::domain::names::stored_name;

pub mod value;
pub mod rule;
mod in_words;
pub mod checks;
pub mod threshold;
#[cfg(test)]
mod tests;

pub use checks::Checks;
pub(crate) use in_words::Notation;
pub use rule::{Bound, Rule, RuleKind, RuleOutcome};
pub(crate) use value::MILLION;
pub use value::Value;

/// Every rule with its outcome, and the decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evaluation {
    /// In order of priority.
    pub rules: Vec<Rule>,
    pub decision: Decision,
}

/// The decision that follows from the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Continue,
    Stop {
        class: Class,
        /// The rule that decided.
        rule: String,
        value: Option<Value>,
        threshold: Value,
        message: String,
    },
}

/// A decision in one word.
#[cfg(test)]
#[derive(Debug, schemars::JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum DecisionWord {
    Continue,
    #[schemars(untagged)]
    Stop(Class),
}

/// The reason why work stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

impl Class {
    pub fn is_success(self) -> bool {
        match self {
            Self::Done | Self::Converged => true,
            Self::Exhausted | Self::Halted | Self::Stalled | Self::NeedsHuman | Self::Cancelled => {
                false
            }
        }
    }
}

impl Evaluation {
    pub fn stops(&self) -> bool {
        matches!(self.decision, Decision::Stop { .. })
    }

    /// `None` if the work continues.
    pub fn class(&self) -> Option<Class> {
        match &self.decision {
            Decision::Continue => None,
            Decision::Stop { class, .. } => Some(*class),
        }
    }

    /// Returns `continue`, or the stored name of the class.
    pub fn decision_name(&self) -> String {
        let class = self.class().as_ref().map(stored_name);
        class.unwrap_or_else(|| "continue".to_owned())
    }

    /// `None` if the work continues.
    pub fn deciding_rule(&self) -> Option<&str> {
        match &self.decision {
            Decision::Continue => None,
            Decision::Stop { rule, .. } => Some(rule),
        }
    }

    pub fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// Returns the guards that object, including those that could not be measured.
    pub fn unmet_guards(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.objects())
    }
}
