//! Whether a debate may end once its judge has found what the experts agree on.
//!
//! What the judge states about an agreement is weak evidence, since stated confidence inflates, and panels of models that all agreed were
//! wrong in 8 to 9 of 100 cases (MMLU-Pro, replayed for panels of five and seven). So it is necessary and not enough: guards look at what
//! it rests on.

use serde::{Deserialize, Serialize};

use crate::domain::confidence::Confidence;

use super::calibration::Level;

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
