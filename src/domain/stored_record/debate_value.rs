//! The value of the debate, as the record states it: rounded, and with the numbers that follow
//! from the others.

use serde::{Deserialize, Serialize};

use super::account::Amount;
use crate::domain::debate_value::{AgentMove, ComparisonStatus, DebateValue, rounded};
use crate::domain::ids::SeatId;

/// The value of one consultation's debate. Unknown numbers are null, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DebateValueAnalysis {
    pub status: ComparisonStatus,
    /// The reason why nothing was compared; `None` if positions were compared.
    pub reason: Option<String>,
    /// The compared experts that moved.
    pub agents_changed_position: Option<u64>,
    pub total_agents: Option<u64>,
    pub agents_compared: Option<u64>,
    /// The share of compared experts that moved.
    pub change_rate: Option<f64>,
    pub avg_confidence_increase: Option<f64>,
    pub key_influencers: Vec<SeatId>,
    pub convergence_score: Option<f64>,
    /// The cost of the comparison.
    pub semantic_comparison_cost: Option<Amount>,
    pub agent_analyses: Vec<AgentMove>,
    pub key_insights: Vec<String>,
    pub verdict_changed_after_round_2: Option<bool>,
    pub similarity_to_round_2: Option<f64>,
    /// The cost of Rounds 3 and 4 without the comparison.
    pub rounds_3_4_cost: Option<Amount>,
}

impl From<&DebateValue> for DebateValueAnalysis {
    fn from(value: &DebateValue) -> Self {
        let change_rate = value.change_rate();
        Self {
            status: value.status,
            reason: value.reason.clone(),
            agents_changed_position: change_rate.map(|_| value.agents_changed_position()),
            total_agents: Some(value.total_agents),
            agents_compared: Some(value.agents_compared()),
            change_rate: change_rate.map(rounded),
            avg_confidence_increase: value.avg_confidence_increase.map(rounded),
            key_influencers: value.key_influencers.clone(),
            convergence_score: value.convergence_score.map(rounded),
            semantic_comparison_cost: value.comparison_cost.map(Amount::from),
            agent_analyses: value.agents.clone(),
            key_insights: value.key_insights.clone(),
            verdict_changed_after_round_2: value.verdict_changed_after_round_2,
            similarity_to_round_2: value.similarity_to_round_2.map(rounded),
            rounds_3_4_cost: value.later_rounds_cost.map(Amount::from),
        }
    }
}

impl DebateValueAnalysis {
    pub(super) fn debate_value(&self) -> DebateValue {
        let share = |number: Option<f64>| number.filter(|share| (0.0..=1.0).contains(share));
        DebateValue {
            status: self.status,
            reason: self.reason.clone(),
            total_agents: self.total_agents.unwrap_or_default(),
            agents: self.agent_analyses.clone(),
            avg_confidence_increase: self.avg_confidence_increase,
            key_influencers: self.key_influencers.clone(),
            convergence_score: share(self.convergence_score),
            comparison_cost: self.semantic_comparison_cost.and_then(|cost| cost.cost()),
            key_insights: self.key_insights.clone(),
            verdict_changed_after_round_2: self.verdict_changed_after_round_2,
            similarity_to_round_2: share(self.similarity_to_round_2),
            later_rounds_cost: self.rounds_3_4_cost.and_then(|cost| cost.cost()),
        }
    }
}
