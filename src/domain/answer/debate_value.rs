//! The value of the debate: the experts that moved, how far and under whose influence, and whether
//! the rounds after the second changed the answer. Unknown values are `None` or `Unknown` and are
//! not counted.

use serde::{Deserialize, Serialize};

use super::artifact::Magnitude;
use super::confidence::Confidence;
use crate::domain::ids::SeatId;

/// Outcome of the comparison of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparisonStatus {
    Compared,
    /// The comparison was switched off, or there was no model for it.
    Skipped,
    /// A model was asked and gave no usable answer.
    Failed,
    /// No expert gave two positions.
    #[default]
    NotApplicable,
}

/// One expert's positions before and after the debate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AgentMove {
    pub agent_id: SeatId,
    pub round1_position: String,
    pub round1_confidence: Option<Confidence>,
    /// `None` if it did not answer in Round 3.
    pub revised_position: Option<String>,
    pub revised_confidence: Option<Confidence>,
    /// The rise in its stated confidence, rounded; `None` unless it states both.
    pub confidence_delta: Option<f64>,
    /// Whether it moved, if only by a refinement; `None` if its positions were not compared.
    pub position_changed: Option<bool>,
    #[serde(rename = "change_magnitude")]
    pub magnitude: ChangeMagnitude,
    /// The difference in the words of the model that compared; empty if it gave none.
    pub reasoning: String,
    /// The experts that it names as the reason, without itself and names that are not on the panel.
    pub influenced_by: Vec<SeatId>,
    /// True if it moved towards the majority and named no argument.
    pub conformity: bool,
}

/// The size of an expert's move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeMagnitude {
    Same,
    MinorRefinement,
    ModerateShift,
    SignificantChange,
    #[default]
    Unknown,
}

impl From<Magnitude> for ChangeMagnitude {
    fn from(magnitude: Magnitude) -> Self {
        match magnitude {
            Magnitude::Same => Self::Same,
            Magnitude::MinorRefinement => Self::MinorRefinement,
            Magnitude::ModerateShift => Self::ModerateShift,
            Magnitude::SignificantChange => Self::SignificantChange,
        }
    }
}

impl ChangeMagnitude {
    /// Whether the positions differ at all, refinements included. `None` if that is unknown.
    pub fn differs(self) -> Option<bool> {
        (self != Self::Unknown).then_some(self != Self::Same)
    }
}

/// What Round 3 did to an expert's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionChange {
    Held,
    /// It keeps its position and adds a detail.
    Refined,
    Changed,
}

impl PositionChange {
    /// Returns the one judgement of an expert's change. An expert's own statement does not count.
    /// `None` if it is unknown.
    pub fn judge(status: ComparisonStatus, magnitude: ChangeMagnitude) -> Option<Self> {
        match (status, magnitude) {
            // Without a comparison, only unchanged wording is known to be the same.
            (_, ChangeMagnitude::Same) => Some(Self::Held),
            (ComparisonStatus::Compared, ChangeMagnitude::MinorRefinement) => Some(Self::Refined),
            (
                ComparisonStatus::Compared,
                ChangeMagnitude::ModerateShift | ChangeMagnitude::SignificantChange,
            ) => Some(Self::Changed),
            (ComparisonStatus::Compared, ChangeMagnitude::Unknown)
            | (
                ComparisonStatus::Skipped
                | ComparisonStatus::Failed
                | ComparisonStatus::NotApplicable,
                _,
            ) => None,
        }
    }
}

/// Rounds to millionths, which removes the error of a sum of decimals.
pub fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

impl AgentMove {
    /// `None` unless it states both.
    pub fn confidence_increase(&self) -> Option<f64> {
        let (before, after) = self.round1_confidence.zip(self.revised_confidence)?;
        Some(after.value() - before.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_comparison_or_equal_wording_says_what_became_of_a_position() {
        use ChangeMagnitude::{MinorRefinement, ModerateShift, Same, SignificantChange, Unknown};
        let compared = |magnitude| PositionChange::judge(ComparisonStatus::Compared, magnitude);
        assert_eq!(compared(Same), Some(PositionChange::Held));
        assert_eq!(compared(MinorRefinement), Some(PositionChange::Refined));
        assert_eq!(compared(ModerateShift), Some(PositionChange::Changed));
        assert_eq!(compared(SignificantChange), Some(PositionChange::Changed));
        assert_eq!(compared(Unknown), None);
        for status in [
            ComparisonStatus::Skipped,
            ComparisonStatus::Failed,
            ComparisonStatus::NotApplicable,
        ] {
            let judge = |magnitude| PositionChange::judge(status, magnitude);
            assert_eq!(judge(Same), Some(PositionChange::Held), "{status:?}");
            for magnitude in [Unknown, MinorRefinement, SignificantChange] {
                assert_eq!(judge(magnitude), None, "{status:?} {magnitude:?}");
            }
        }
    }
}
