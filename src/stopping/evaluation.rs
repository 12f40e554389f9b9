//! What every decision to stop leaves behind: all rules that were looked at, and what follows from them.
//!
//! An evaluation is made of recorded evidence alone, so that it can be printed, logged and made again later with the same result.

use serde::{Deserialize, Serialize};

/// Every rule with what it found, and the decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    pub rules: Vec<Rule>,
    pub decision: Decision,
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
    pub outcome: Outcome,
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

/// How a value compares with its threshold when all is well: a success fires within its bound, a limit and a guard outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

/// A measured value. Shares are kept as the numbers that they are made of, and compared without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Count(u64),
    Share { part: u64, of: u64 },
}

/// What a rule found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
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
    Stop { class: Class, rule: String, value: Option<Value>, threshold: Value, message: String },
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
