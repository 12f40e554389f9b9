//! The record's `debate_value_analysis`.

use serde_json::{Value, json};

use crate::domain::debate_value::{AgentMove, DebateValue};

use super::spending::money;

/// Writes the value of a debate. Unknown numbers are null, never 0.
pub(super) fn debate_value(value: &DebateValue) -> Value {
    let change_rate = value.change_rate();
    json!({
        "status": value.status,
        "reason": value.reason,
        "agents_changed_position": change_rate.map(|_| value.agents_changed_position()),
        "total_agents": value.total_agents,
        "agents_compared": value.agents_compared(),
        "change_rate": change_rate.map(rounded),
        "avg_confidence_increase": value.avg_confidence_increase.map(rounded),
        "key_influencers": value.key_influencers,
        "convergence_score": value.convergence_score.map(rounded),
        "semantic_comparison_cost": value.comparison_cost.map(money),
        "agent_analyses": value.agents.iter().map(agent).collect::<Vec<_>>(),
        "key_insights": value.key_insights,
        "verdict_changed_after_round_2": value.verdict_changed_after_round_2,
        "similarity_to_round_2": value.similarity_to_round_2.map(rounded),
        "rounds_3_4_cost": value.later_rounds_cost.map(money),
    })
}

fn agent(moved: &AgentMove) -> Value {
    json!({
        "agent_id": moved.agent_id,
        "round1_position": moved.round1_position,
        "round1_confidence": moved.round1_confidence,
        "revised_position": moved.revised_position,
        "revised_confidence": moved.revised_confidence,
        "confidence_delta": moved.confidence_increase().map(rounded),
        "position_changed": moved.position_changed(),
        "change_magnitude": moved.magnitude,
        "reasoning": moved.reasoning,
        "influenced_by": moved.influenced_by,
        "conformity": moved.conformity,
    })
}

/// Rounds to millionths, which removes the error of a sum of decimals.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
