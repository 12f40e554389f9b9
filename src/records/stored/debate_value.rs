//! Reads what a record says the debate was worth.

use crate::domain::debate_value::{AgentMove, DebateValue};
use crate::domain::ids::SeatId;

use super::fields::Fields;

/// `None` of a record that does not say whether anything was compared: another program's, or of a
/// version that could not.
pub(super) fn debate_value(record: Fields<'_>) -> Option<DebateValue> {
    let told = record.at("debate_value_analysis");
    let share = |name: &str| {
        told.number(name)
            .filter(|share| (0.0..=1.0).contains(share))
    };
    Some(DebateValue {
        status: told.word("status")?,
        reason: told.said("reason"),
        total_agents: told.count("total_agents").unwrap_or_default(),
        agents: told.each("agent_analyses").filter_map(agent).collect(),
        avg_confidence_increase: told.number("avg_confidence_increase"),
        key_influencers: seats(told, "key_influencers"),
        convergence_score: share("convergence_score"),
        comparison_cost: told.cost("semantic_comparison_cost"),
        key_insights: told.texts("key_insights"),
        verdict_changed_after_round_2: told.flag("verdict_changed_after_round_2"),
        similarity_to_round_2: share("similarity_to_round_2"),
        later_rounds_cost: told.cost("rounds_3_4_cost"),
    })
}

fn agent(told: Fields<'_>) -> Option<AgentMove> {
    Some(AgentMove {
        agent_id: SeatId::new(told.said("agent_id")?),
        round1_position: told.text_or_empty("round1_position"),
        round1_confidence: told.confidence("round1_confidence"),
        revised_position: told.text("revised_position"),
        revised_confidence: told.confidence("revised_confidence"),
        magnitude: told.word("change_magnitude").unwrap_or_default(),
        reasoning: told.text_or_empty("reasoning"),
        influenced_by: seats(told, "influenced_by"),
        conformity: told.flag("conformity").unwrap_or_default(),
    })
}

fn seats(told: Fields<'_>, name: &str) -> Vec<SeatId> {
    told.texts(name).into_iter().map(SeatId::new).collect()
}
