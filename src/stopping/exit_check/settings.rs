//! The settings of a check: which rules decide, and by which thresholds.

use serde::{Deserialize, Serialize};

use super::breaker::BreakerRule;
use super::thresholds::ExitThresholds;

/// Everything besides state and evidence that a decision depends on. It is recorded with every
/// decision, so that the decision can be repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExitSettings {
    pub policy: ExitPolicy,
    pub thresholds: ExitThresholds,
    pub circuit: BreakerRule,
}

/// The set of rules that decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExitPolicy {
    /// The usual rules.
    #[default]
    Corrected,
    /// The seven rules of the original script, to the letter: `--strict-seed`.
    StrictSeed,
}
