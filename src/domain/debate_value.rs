//! The value of the debate: the experts that moved, how far and under whose influence, and whether
//! the rounds after the second changed the answer. Unknown values are `None` or `Unknown` and are
//! not counted.

use serde::{Deserialize, Serialize};

use super::artifact::Magnitude;
use super::confidence::Confidence;
use super::ids::SeatId;
use super::money::Cost;
use super::words::amount;

/// The value of one consultation's debate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DebateValue {
    pub status: ComparisonStatus,
    /// The reason why nothing was compared, in words; `None` if positions were compared.
    pub reason: Option<String>,
    /// The number of seats on the panel.
    pub total_agents: u64,
    /// The experts that answered in Round 1, in the panel's order.
    pub agents: Vec<AgentMove>,
    /// The mean change in stated confidence per expert from beginning to end, over the experts that
    /// state both.
    pub avg_confidence_increase: Option<f64>,
    /// The experts named most often as the reason for a move.
    pub key_influencers: Vec<SeatId>,
    /// The share of the experts in Round 3 for which the verdict names no dissent.
    pub convergence_score: Option<f64>,
    /// The cost of the comparison; `None` if no call was made for it.
    pub comparison_cost: Option<Cost>,
    pub key_insights: Vec<String>,
    pub verdict_changed_after_round_2: Option<bool>,
    /// The share of the words of Round 2's answer that occur in the verdict. It measures wording,
    /// not meaning.
    pub similarity_to_round_2: Option<f64>,
    /// The cost of the calls of Rounds 3 and 4 without the comparison; `None` if none was made.
    pub later_rounds_cost: Option<Cost>,
}

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
    /// Returns whether it is a change; `None` if that is unknown.
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

    /// Returns the rise in its stated confidence; `None` unless it states both.
    pub fn confidence_increase(&self) -> Option<f64> {
        let (before, after) = self.round1_confidence.zip(self.revised_confidence)?;
        Some(after.value() - before.value())
    }
}

impl DebateValue {
    /// Returns the number of experts of which it is known whether they moved. It is 0 without a
    /// comparison: otherwise experts whose wording stayed the same would represent all others.
    pub fn agents_compared(&self) -> u64 {
        self.known().count() as u64
    }

    /// Returns the number of these that moved.
    pub fn agents_changed_position(&self) -> u64 {
        self.known().filter(|changed| *changed).count() as u64
    }

    /// Returns the share of compared experts that moved.
    #[expect(clippy::cast_precision_loss, reason = "a panel has few seats")]
    pub fn change_rate(&self) -> Option<f64> {
        let compared = self.agents_compared();
        (compared > 0).then(|| self.agents_changed_position() as f64 / compared as f64)
    }

    fn known(&self) -> impl Iterator<Item = bool> {
        let is_compared = self.status == ComparisonStatus::Compared;
        let agents = self.agents.iter().filter(move |_| is_compared);
        agents.filter_map(AgentMove::is_changed)
    }

    /// Returns the judgement of one expert's change, given its own statement.
    pub fn position_change(&self, seat: &SeatId, stated: Option<bool>) -> Option<PositionChange> {
        let agent = self.agents.iter().find(|agent| agent.agent_id == *seat);
        let magnitude = agent.map(|agent| agent.magnitude).unwrap_or_default();
        PositionChange::judge(self.status, magnitude, stated)
    }
}

impl DebateValue {
    /// Describes the cost of the rounds after the second, and whether they changed the answer.
    pub fn worth_of_later_rounds(&self) -> Option<String> {
        let cost = amount(self.later_rounds_cost?);
        let words = self.similarity_to_round_2.map(|share| {
            format!(
                "{:.0}% of the words of what Round 2 agreed on are in it",
                share * 100.0
            )
        });
        let changed = match (self.verdict_changed_after_round_2, words) {
            (Some(true), Some(words)) => format!(" and changed the answer ({words})"),
            (Some(true), None) => " and changed the answer".to_owned(),
            (Some(false), Some(words)) => format!(" and did not change the answer ({words})"),
            (Some(false), None) => " and did not change the answer".to_owned(),
            (None, Some(words)) => {
                format!("; whether they changed the answer is unclear from its words ({words})")
            }
            (None, None) => "; whether they changed the answer is not known".to_owned(),
        };
        Some(format!("Rounds 3-4 cost {cost}{changed}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::MicroUsd;

    fn moved(agent: &str, magnitude: ChangeMagnitude) -> AgentMove {
        AgentMove {
            agent_id: SeatId::new(agent),
            round1_position: "a".into(),
            round1_confidence: Confidence::new(0.75),
            revised_position: Some("b".into()),
            revised_confidence: Confidence::new(0.83),
            magnitude,
            influenced_by: vec![SeatId::new("x"), SeatId::new("y")],
            ..AgentMove::default()
        }
    }

    #[test]
    fn unknown_values_are_not_counted() {
        let agents = vec![
            moved("a", ChangeMagnitude::Same),
            moved("b", ChangeMagnitude::MinorRefinement),
            moved("c", ChangeMagnitude::Unknown),
        ];
        let value = DebateValue {
            status: ComparisonStatus::Compared,
            total_agents: 3,
            agents,
            ..DebateValue::default()
        };
        assert_eq!(
            (
                value.agents_compared(),
                value.agents_changed_position(),
                value.change_rate()
            ),
            (2, 1, Some(0.5))
        );
        let failed = DebateValue {
            status: ComparisonStatus::Failed,
            ..value
        };
        assert_eq!(failed.agents_compared(), 0);
        assert_eq!(failed.change_rate(), None);
    }

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

    #[test]
    fn later_rounds_are_described_by_their_cost_and_effect() {
        let value = |verdict_changed_after_round_2, similarity_to_round_2| DebateValue {
            later_rounds_cost: Some(Cost::exactly(MicroUsd(12_300))),
            verdict_changed_after_round_2,
            similarity_to_round_2,
            ..DebateValue::default()
        };
        let worth = |changed, share| value(changed, share).worth_of_later_rounds().unwrap();
        assert_eq!(
            worth(Some(false), Some(0.85)),
            "Rounds 3-4 cost $0.0123 and did not change the answer (85% of the words of what Round \
             2 agreed on are in it)"
        );
        assert_eq!(
            worth(Some(true), Some(0.0)),
            "Rounds 3-4 cost $0.0123 and changed the answer (0% of the words of what Round 2 \
             agreed on are in it)"
        );
        assert_eq!(
            worth(None, Some(0.4)),
            "Rounds 3-4 cost $0.0123; whether they changed the answer is unclear from its words \
             (40% of the words of what Round 2 agreed on are in it)"
        );
        assert_eq!(
            worth(None, None),
            "Rounds 3-4 cost $0.0123; whether they changed the answer is not known"
        );
        assert_eq!(DebateValue::default().worth_of_later_rounds(), None);
    }
}
