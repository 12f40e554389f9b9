//! Grades that users give to answers afterwards.

use serde::{Deserialize, Serialize};

use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;

/// Whether an answer proved right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerOutcome {
    Right,
    Wrong,
    /// Partly right; counts as half.
    Mixed,
}

impl AnswerOutcome {
    pub const ALL: [Self; 3] = [Self::Right, Self::Wrong, Self::Mixed];

    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Mixed => "mixed",
        }
    }

    /// From 0 to 1.
    pub fn share_right(self) -> f64 {
        match self {
            Self::Right => 1.0,
            Self::Wrong => 0.0,
            Self::Mixed => 0.5,
        }
    }
}

/// A user's grade of one answer. Stored in a separate file beside the record, because it was given
/// after the consultation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grade {
    pub schema_version: String,
    pub consultation_id: ConsultationId,
    pub outcome: AnswerOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub at: Timestamp,
}

/// The version of [`Grade`].
pub const SCHEMA_VERSION: &str = "1.0";
