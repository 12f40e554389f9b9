//! The early termination of a record.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::account::Amount;
use crate::domain::confidence::Confidence;

/// The evaluation after Round 2 that decided whether to end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EarlyTerminationEvaluation {
    pub ended: bool,
    /// What decided: `threshold`, `guards`, `person`, ….
    pub by: Option<String>,
    /// The judge's mean stated confidence in the points of agreement.
    pub confidence: Option<Confidence>,
    pub threshold: Option<Confidence>,
    /// The number of rounds that an early end skips.
    pub rounds_skipped: u64,
    /// The estimated cost of these rounds.
    pub estimated_cost_saved: Amount,
    /// The evaluated rules, as `stopping` writes them.
    pub rules: Vec<Value>,
    /// What follows from the rules, as `stopping` writes it.
    pub decision: Value,
}
