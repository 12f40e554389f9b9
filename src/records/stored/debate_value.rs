//! Reads the value of the debate from a record.

use crate::domain::debate_value::{AgentMove, DebateValue};
use crate::domain::ids::SeatId;

use super::fields::Fields;

/// Returns `None` for a record without a comparison status: another program's, or of an early
/// version.
pub(super) fn debate_value(record: Fields<'_>) -> Option<DebateValue> {
    let fields = record.at("debate_value_analysis");
    let share = |name: &str| {
        fields
            .number(name)
            .filter(|share| (0.0..=1.0).contains(share))
    };
    Some(DebateValue {
        status: fields.word("status")?,
        reason: fields.nonblank("reason"),
        total_agents: fields.count("total_agents").unwrap_or_default(),
        agents: fields.each("agent_analyses").filter_map(agent).collect(),
        avg_confidence_increase: fields.number("avg_confidence_increase"),
        key_influencers: seats(fields, "key_influencers"),
        convergence_score: share("convergence_score"),
        comparison_cost: fields.cost("semantic_comparison_cost"),
        key_insights: fields.texts("key_insights"),
        verdict_changed_after_round_2: fields.flag("verdict_changed_after_round_2"),
        similarity_to_round_2: share("similarity_to_round_2"),
        later_rounds_cost: fields.cost("rounds_3_4_cost"),
    })
}

fn agent(fields: Fields<'_>) -> Option<AgentMove> {
    Some(AgentMove {
        agent_id: SeatId::new(fields.nonblank("agent_id")?),
        round1_position: fields.text_or_empty("round1_position"),
        round1_confidence: fields.confidence("round1_confidence"),
        revised_position: fields.text("revised_position"),
        revised_confidence: fields.confidence("revised_confidence"),
        magnitude: fields.word("change_magnitude").unwrap_or_default(),
        reasoning: fields.text_or_empty("reasoning"),
        influenced_by: seats(fields, "influenced_by"),
        conformity: fields.flag("conformity").unwrap_or_default(),
    })
}

fn seats(fields: Fields<'_>, name: &str) -> Vec<SeatId> {
    fields.texts(name).into_iter().map(SeatId::new).collect()
}
