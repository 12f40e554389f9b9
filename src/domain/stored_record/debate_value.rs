//! The value of the debate, as the record states it: rounded, and with the numbers that follow
//! from the others.

use serde::{Deserialize, Serialize};

use super::account::Amount;
use crate::domain::confidence::Confidence;
use crate::domain::debate_value::{
    AgentMove, ChangeMagnitude, ComparisonStatus, DebateValue, PositionChange,
};
use crate::domain::ids::SeatId;

/// The value of one consultation's debate. Unknown numbers are null, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DebateValueAnalysis {
    /// `None` in a record of the original or of an early version, which compared nothing.
    pub status: Option<ComparisonStatus>,
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
    pub agent_analyses: Vec<AgentAnalysis>,
    pub key_insights: Vec<String>,
    pub verdict_changed_after_round_2: Option<bool>,
    pub similarity_to_round_2: Option<f64>,
    /// The cost of Rounds 3 and 4 without the comparison.
    pub rounds_3_4_cost: Option<Amount>,
}

/// One expert's positions before and after the debate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentAnalysis {
    pub agent_id: SeatId,
    pub round1_position: String,
    pub round1_confidence: Option<Confidence>,
    /// `None` if it did not answer in Round 3.
    pub revised_position: Option<String>,
    pub revised_confidence: Option<Confidence>,
    pub confidence_delta: Option<f64>,
    /// `None` if its positions were not compared.
    pub position_changed: Option<bool>,
    pub change_magnitude: ChangeMagnitude,
    /// The difference, in the words of the comparing model.
    pub reasoning: String,
    /// The experts that it names as its reason.
    pub influenced_by: Vec<SeatId>,
    /// True if it moved towards the majority without naming an argument.
    pub conformity: bool,
}

impl From<&DebateValue> for DebateValueAnalysis {
    fn from(value: &DebateValue) -> Self {
        let change_rate = value.change_rate();
        Self {
            status: Some(value.status),
            reason: value.reason.clone(),
            agents_changed_position: change_rate.map(|_| value.agents_changed_position()),
            total_agents: Some(value.total_agents),
            agents_compared: Some(value.agents_compared()),
            change_rate: change_rate.map(rounded),
            avg_confidence_increase: value.avg_confidence_increase.map(rounded),
            key_influencers: value.key_influencers.clone(),
            convergence_score: value.convergence_score.map(rounded),
            semantic_comparison_cost: value.comparison_cost.map(Amount::from),
            agent_analyses: value
                .agents
                .iter()
                .map(|agent| AgentAnalysis::new(agent, value.status))
                .collect(),
            key_insights: value.key_insights.clone(),
            verdict_changed_after_round_2: value.verdict_changed_after_round_2,
            similarity_to_round_2: value.similarity_to_round_2.map(rounded),
            rounds_3_4_cost: value.later_rounds_cost.map(Amount::from),
        }
    }
}

impl AgentAnalysis {
    fn new(moved: &AgentMove, status: ComparisonStatus) -> Self {
        let change = PositionChange::judge(status, moved.magnitude, None);
        Self {
            agent_id: moved.agent_id.clone(),
            round1_position: moved.round1_position.clone(),
            round1_confidence: moved.round1_confidence,
            revised_position: moved.revised_position.clone(),
            revised_confidence: moved.revised_confidence,
            confidence_delta: moved.confidence_increase().map(rounded),
            position_changed: change.map(PositionChange::is_change),
            change_magnitude: moved.magnitude,
            reasoning: moved.reasoning.clone(),
            influenced_by: moved.influenced_by.clone(),
            conformity: moved.conformity,
        }
    }
}

/// Rounds to millionths, which removes the error of a sum of decimals.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

impl DebateValueAnalysis {
    pub(super) fn debate_value(&self) -> Option<DebateValue> {
        let share = |number: Option<f64>| number.filter(|share| (0.0..=1.0).contains(share));
        Some(DebateValue {
            status: self.status?,
            reason: self.reason.clone(),
            total_agents: self.total_agents.unwrap_or_default(),
            agents: self.agent_analyses.iter().map(AgentMove::from).collect(),
            avg_confidence_increase: self.avg_confidence_increase,
            key_influencers: self.key_influencers.clone(),
            convergence_score: share(self.convergence_score),
            comparison_cost: self.semantic_comparison_cost.and_then(|cost| cost.cost()),
            key_insights: self.key_insights.clone(),
            verdict_changed_after_round_2: self.verdict_changed_after_round_2,
            similarity_to_round_2: share(self.similarity_to_round_2),
            later_rounds_cost: self.rounds_3_4_cost.and_then(|cost| cost.cost()),
        })
    }
}

impl From<&AgentAnalysis> for AgentMove {
    fn from(analysis: &AgentAnalysis) -> Self {
        Self {
            agent_id: analysis.agent_id.clone(),
            round1_position: analysis.round1_position.clone(),
            round1_confidence: analysis.round1_confidence,
            revised_position: analysis.revised_position.clone(),
            revised_confidence: analysis.revised_confidence,
            magnitude: analysis.change_magnitude,
            reasoning: analysis.reasoning.clone(),
            influenced_by: analysis.influenced_by.clone(),
            conformity: analysis.conformity,
        }
    }
}

/// Changes of position between the first and the last round, as the original counts them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredDebate {
    /// Experts that answered in the last round.
    pub experts: u64,
    /// Those of them whose position changed.
    pub changed: u64,
    /// The rise in confidence of each expert that stated one in both rounds.
    pub rises: Vec<f64>,
}
