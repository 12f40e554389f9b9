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
    /// `None` if its positions were not compared.
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
    /// `None` if that is unknown.
    pub fn is_change(self) -> Option<bool> {
        match self {
            Self::Same => Some(false),
            Self::MinorRefinement | Self::ModerateShift | Self::SignificantChange => Some(true),
            Self::Unknown => None,
        }
    }
}

/// Whether an expert changed its position in Round 3, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionChange {
    /// Its positions were compared, and they differ.
    Changed,
    /// Its positions say the same, as compared or word for word.
    Held,
    /// Its positions differ in wording and were not compared; only its own statement is known.
    Stated { changed: bool },
}

impl PositionChange {
    /// Returns the one judgement of an expert's change: an expert that repeats its position has not
    /// changed its mind, whatever it states. Else the comparison decides where positions were
    /// compared, and its own statement where they were not. `None` if there is neither.
    pub fn judge(
        status: ComparisonStatus,
        magnitude: ChangeMagnitude,
        stated: Option<bool>,
    ) -> Option<Self> {
        let compared = match (status, magnitude) {
            // Without a comparison, only unchanged wording is known to be the same.
            (ComparisonStatus::Compared, _) | (_, ChangeMagnitude::Same) => magnitude.is_change(),
            (
                ComparisonStatus::Skipped
                | ComparisonStatus::Failed
                | ComparisonStatus::NotApplicable,
                _,
            ) => None,
        };
        match compared {
            Some(true) => Some(Self::Changed),
            Some(false) => Some(Self::Held),
            None => stated.map(|changed| Self::Stated { changed }),
        }
    }

    pub fn basis(self) -> ChangeBasis {
        match self {
            Self::Changed | Self::Held => ChangeBasis::Comparison,
            Self::Stated { .. } => ChangeBasis::Statement,
        }
    }

    pub fn is_change(self) -> bool {
        match self {
            Self::Changed => true,
            Self::Held => false,
            Self::Stated { changed } => changed,
        }
    }

    /// Describes it as the rest of a sentence about the expert.
    pub fn in_words(change: Option<Self>) -> &'static str {
        match change {
            Some(Self::Changed) => "changed its mind",
            Some(Self::Held) => "held its position",
            Some(Self::Stated { changed: true }) => "says it changed its mind",
            Some(Self::Stated { changed: false }) => "says it held its position",
            None => "does not say whether it changed its mind",
        }
    }
}

/// How it is known whether an expert changed its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeBasis {
    /// Its positions were compared, or say the same word for word.
    Comparison,
    /// It says so itself.
    Statement,
}

/// Rounds to millionths, which removes the error of a sum of decimals.
pub fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

impl AgentMove {
    /// Returns whether its positions differ as far as they were compared; whether they count is
    /// [`PositionChange::judge`]'s decision.
    pub fn is_changed(&self) -> Option<bool> {
        self.magnitude.is_change()
    }

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
    fn wording_and_comparison_outweigh_the_statement_of_an_expert() {
        use PositionChange::{Changed, Held, Stated};
        let judge = |status, magnitude| PositionChange::judge(status, magnitude, Some(true));
        let compared = |magnitude| judge(ComparisonStatus::Compared, magnitude);
        assert_eq!(compared(ChangeMagnitude::Same), Some(Held));
        assert_eq!(compared(ChangeMagnitude::MinorRefinement), Some(Changed));
        let stated = Some(Stated { changed: true });
        assert_eq!(compared(ChangeMagnitude::Unknown), stated);
        for status in [
            ComparisonStatus::Skipped,
            ComparisonStatus::Failed,
            ComparisonStatus::NotApplicable,
        ] {
            for magnitude in [ChangeMagnitude::Unknown, ChangeMagnitude::MinorRefinement] {
                assert_eq!(judge(status, magnitude), stated, "{status:?} {magnitude:?}");
            }
            assert_eq!(
                judge(status, ChangeMagnitude::Same),
                Some(Held),
                "{status:?}"
            );
        }
        let unstated = PositionChange::judge(
            ComparisonStatus::Failed,
            ChangeMagnitude::SignificantChange,
            None,
        );
        assert_eq!(unstated, None);
    }
}
