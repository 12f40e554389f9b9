//! The value of the debate: the experts that moved, how far and under whose influence, and whether
//! the rounds after the second changed the answer.

use serde::{Deserialize, Serialize};

use super::account::Amount;
use crate::domain::answer::debate_value::{AgentMove, ComparisonStatus, PositionChange};
use crate::domain::ids::SeatId;
use crate::domain::words::spent;

/// The value of one consultation's debate, its numbers rounded. Unknown numbers are null, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "DebateValueAnalysis"))]
#[serde(default)]
pub struct DebateValue {
    pub status: ComparisonStatus,
    /// The reason why nothing was compared; `None` if positions were compared.
    pub reason: Option<String>,
    /// The compared experts that moved, if only by a refinement.
    pub agents_changed_position: Option<u64>,
    pub total_agents: Option<u64>,
    /// The experts of which it is known whether they moved. It is 0 without a comparison: otherwise
    /// experts whose wording stayed the same would represent all others.
    pub agents_compared: Option<u64>,
    /// The share of compared experts that moved.
    pub change_rate: Option<f64>,
    /// The mean change in stated confidence per expert from beginning to end, over the experts that
    /// state both.
    pub avg_confidence_increase: Option<f64>,
    /// The experts named most often as the reason for a move.
    pub key_influencers: Vec<SeatId>,
    /// The share of the experts in Round 3 for which the verdict names no dissent.
    pub convergence_score: Option<f64>,
    /// The cost of the comparison.
    #[serde(rename = "semantic_comparison_cost")]
    pub comparison_cost: Option<Amount>,
    /// The experts that answered in Round 1, in the panel's order.
    #[serde(rename = "agent_analyses")]
    pub agents: Vec<AgentMove>,
    pub key_insights: Vec<String>,
    pub verdict_changed_after_round_2: Option<bool>,
    /// The share of the words of Round 2's provisional answer that occur in the verdict. It measures wording,
    /// not meaning.
    pub similarity_to_round_2: Option<f64>,
    /// The cost of Rounds 3 and 4 without the comparison.
    #[serde(rename = "rounds_3_4_cost")]
    pub later_rounds_cost: Option<Amount>,
}

impl DebateValue {
    pub fn position_change(&self, seat: &SeatId) -> Option<PositionChange> {
        let agent = self.agents.iter().find(|agent| agent.agent_id == *seat);
        let magnitude = agent.map(|agent| agent.magnitude).unwrap_or_default();
        PositionChange::judge(self.status, magnitude)
    }

    /// Describes the cost of the rounds after the second, and whether they changed the answer.
    pub fn worth_of_later_rounds(&self) -> Option<String> {
        let cost = spent(self.later_rounds_cost?.cost()?);
        let share = self.similarity_to_round_2;
        let words = share
            .filter(|share| (0.0..=1.0).contains(share))
            .map(|share| {
                format!(
                    "{:.0}% of the words of Round 2's provisional answer are in it",
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
    use crate::domain::cost::money::{Cost, MicroUsd};

    #[test]
    fn later_rounds_are_described_by_their_cost_and_effect() {
        let value = |verdict_changed_after_round_2, similarity_to_round_2| DebateValue {
            later_rounds_cost: Some(Amount::from(Cost::exactly(MicroUsd(12_300)))),
            verdict_changed_after_round_2,
            similarity_to_round_2,
            ..DebateValue::default()
        };
        let worth = |changed, share| value(changed, share).worth_of_later_rounds().unwrap();
        assert_eq!(
            worth(Some(false), Some(0.85)),
            "Rounds 3-4 cost $0.0123 and did not change the answer (85% of the words of Round 2's \
             provisional answer are in it)"
        );
        assert_eq!(
            worth(Some(true), Some(0.0)),
            "Rounds 3-4 cost $0.0123 and changed the answer (0% of the words of Round 2's \
             provisional answer are in it)"
        );
        assert_eq!(
            worth(None, Some(0.4)),
            "Rounds 3-4 cost $0.0123; whether they changed the answer is unclear from its words \
             (40% of the words of Round 2's provisional answer are in it)"
        );
        assert_eq!(
            worth(None, None),
            "Rounds 3-4 cost $0.0123; whether they changed the answer is not known"
        );
        assert_eq!(DebateValue::default().worth_of_later_rounds(), None);
    }
}
