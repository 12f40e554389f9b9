//! The fields of a record that the index stores, as this program and its later versions write them.
//! Every field may be missing or of another type; unknown fields are skipped.

use serde::Deserialize;

use super::lenient_json::{ByRound, Flag, List, Number, Object, Text, VariantName, Whole};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RecordFields<'a> {
    #[serde(borrow, rename = "@type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_version: Text<'a>,
    #[serde(borrow)]
    pub(super) schema_version: Text<'a>,
    #[serde(borrow)]
    pub(super) consultation_id: Text<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    #[serde(borrow)]
    pub(super) question: Text<'a>,
    #[serde(borrow)]
    pub(super) mode: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) state: Text<'a>,
    #[serde(borrow)]
    pub(super) agents: List<Object<SeatFields<'a>>>,
    #[serde(borrow)]
    pub(super) judge: Object<ModelFields<'a>>,
    #[serde(borrow)]
    pub(super) substitutions: List<Object<SubstitutionFields<'a>>>,
    #[serde(borrow)]
    pub(super) responses: ByRound<RoundFields<'a>>,
    #[serde(borrow)]
    pub(super) recommendation: Text<'a>,
    pub(super) confidence: Number,
    #[serde(borrow)]
    pub(super) dissent: List<Object<DissentFields<'a>>>,
    #[serde(borrow)]
    pub(super) perspectives: List<Object<PerspectiveFields<'a>>>,
    pub(super) agreement: Number,
    pub(super) cost: Object<CostFields>,
    pub(super) duration_ms: Whole,
    #[serde(borrow)]
    pub(super) abort_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) project_context: Object<ProjectFields<'a>>,
    pub(super) early_termination: Flag,
    pub(super) estimated_cost_saved: Number,
    pub(super) verdict_changed_after_round_2: Flag,
    #[serde(borrow)]
    pub(super) debate_value_analysis: Object<DebateValueFields<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SeatFields<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) provider: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelFields<'a> {
    #[serde(borrow)]
    pub(super) provider: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SubstitutionFields<'a> {
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    #[serde(borrow)]
    pub(super) substitute: Text<'a>,
    pub(super) round_number: Whole,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RoundFields<'a> {
    pub(super) duration_ms: Whole,
    #[serde(borrow)]
    pub(super) artifacts: List<Object<ArtifactFields<'a>>>,
    #[serde(borrow)]
    pub(super) agents: List<Object<AgentFields<'a>>>,
}

/// The parts of an artifact that state who agrees with the answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ArtifactFields<'a> {
    #[serde(borrow)]
    #[serde(rename = "artifact_type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) consensus_points: List<Object<ConsensusPointFields<'a>>>,
    #[serde(borrow)]
    pub(super) dissent: List<Object<DissentFields<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ConsensusPointFields<'a> {
    #[serde(borrow)]
    pub(super) supporting_agents: List<Text<'a>>,
    pub(super) confidence: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DissentFields<'a> {
    #[serde(borrow)]
    pub(super) agent: Text<'a>,
}

/// One agent's calls for one answer in one round.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AgentFields<'a> {
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    #[serde(borrow)]
    pub(super) answer: Text<'a>,
    #[serde(borrow)]
    pub(super) attempts: List<Object<AttemptFields<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AttemptFields<'a> {
    pub(super) call: Whole,
    #[serde(borrow)]
    pub(super) purpose: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) stop: VariantName<'a>,
    pub(super) error: Object<serde::de::IgnoredAny>,
    pub(super) tokens: Object<TokenFields>,
    pub(super) cost: Object<MoneyFields>,
    pub(super) latency_ms: Whole,
    pub(super) duration_ms: Whole,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenFields {
    pub(super) input: Whole,
    pub(super) output: Whole,
    pub(super) total: Whole,
    pub(super) estimated: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MoneyFields {
    pub(super) micro_usd: Whole,
    pub(super) lower_bound: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PerspectiveFields<'a> {
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    pub(super) confidence: Number,
    pub(super) revised_confidence: Number,
    pub(super) changed: Flag,
}

/// The record's `cost`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CostFields {
    pub(super) micro_usd: Whole,
    pub(super) lower_bound: Flag,
    pub(super) tokens: Object<TokenFields>,
    pub(super) by_round: ByRound<RoundCostFields>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RoundCostFields {
    pub(super) micro_usd: Whole,
    pub(super) lower_bound: Flag,
    pub(super) tokens: Object<TokenFields>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProjectFields<'a> {
    #[serde(borrow)]
    pub(super) project_type: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DebateValueFields<'a> {
    /// Absent in records of the original.
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    pub(super) total_agents: Whole,
    pub(super) agents_compared: Whole,
    pub(super) agents_changed_position: Whole,
    pub(super) avg_confidence_increase: Number,
    pub(super) verdict_changed_after_round_2: Flag,
    pub(super) rounds_3_4_cost: Object<MoneyFields>,
}
