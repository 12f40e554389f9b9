//! The part of a record that the index keeps, as this program and its later versions write it.
//! Every field may be missing or of another type; what has no field here is skipped.

use serde::Deserialize;

use super::lenient_json::{ByRound, Flag, List, Name, Number, Object, Text, Whole};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Record<'a> {
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
    pub(super) agents: List<Object<Seat<'a>>>,
    #[serde(borrow)]
    pub(super) judge: Object<Model<'a>>,
    #[serde(borrow)]
    pub(super) substitutions: List<Object<Substitution<'a>>>,
    #[serde(borrow)]
    pub(super) responses: ByRound<Round<'a>>,
    #[serde(borrow)]
    pub(super) recommendation: Text<'a>,
    pub(super) confidence: Number,
    #[serde(borrow)]
    pub(super) dissent: List<Object<Dissent<'a>>>,
    #[serde(borrow)]
    pub(super) perspectives: List<Object<Perspective<'a>>>,
    pub(super) agreement: Number,
    pub(super) cost: Object<Spending>,
    pub(super) duration_ms: Whole,
    #[serde(borrow)]
    pub(super) abort_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) project_context: Object<ProjectContext<'a>>,
    pub(super) early_termination: Flag,
    pub(super) estimated_cost_saved: Number,
    pub(super) verdict_changed_after_round_2: Flag,
    #[serde(borrow)]
    pub(super) debate_value_analysis: Object<DebateValue<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Seat<'a> {
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
pub(super) struct Model<'a> {
    #[serde(borrow)]
    pub(super) provider: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Substitution<'a> {
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    #[serde(borrow)]
    pub(super) substitute: Text<'a>,
    pub(super) round_number: Whole,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Round<'a> {
    pub(super) duration_ms: Whole,
    #[serde(borrow)]
    pub(super) artifacts: List<Object<Artifact<'a>>>,
    #[serde(borrow)]
    pub(super) agents: List<Object<Work<'a>>>,
}

/// An artifact, as far as it tells who stands behind the answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Artifact<'a> {
    #[serde(borrow)]
    #[serde(rename = "artifact_type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) consensus_points: List<Object<ConsensusPoint<'a>>>,
    #[serde(borrow)]
    pub(super) dissent: List<Object<Dissent<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ConsensusPoint<'a> {
    #[serde(borrow)]
    pub(super) supporting_agents: List<Text<'a>>,
    pub(super) confidence: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Dissent<'a> {
    #[serde(borrow)]
    pub(super) agent: Text<'a>,
}

/// What one agent did in one round.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Work<'a> {
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    #[serde(borrow)]
    pub(super) answer: Text<'a>,
    #[serde(borrow)]
    pub(super) attempts: List<Object<Attempt<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Attempt<'a> {
    pub(super) call: Whole,
    #[serde(borrow)]
    pub(super) purpose: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) stop: Name<'a>,
    pub(super) error: Object<serde::de::IgnoredAny>,
    pub(super) tokens: Object<Tokens>,
    pub(super) cost: Object<Money>,
    pub(super) latency_ms: Whole,
    pub(super) duration_ms: Whole,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    pub(super) input: Whole,
    pub(super) output: Whole,
    pub(super) total: Whole,
    pub(super) estimated: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Money {
    pub(super) micro_usd: Whole,
    pub(super) lower_bound: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Perspective<'a> {
    #[serde(borrow)]
    pub(super) agent_id: Text<'a>,
    pub(super) confidence: Number,
    pub(super) revised_confidence: Number,
    pub(super) changed: Flag,
}

/// The record's `cost`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Spending {
    pub(super) micro_usd: Whole,
    pub(super) lower_bound: Flag,
    pub(super) tokens: Object<Tokens>,
    pub(super) by_round: ByRound<RoundSpending>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RoundSpending {
    pub(super) micro_usd: Whole,
    pub(super) lower_bound: Flag,
    pub(super) tokens: Object<Tokens>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProjectContext<'a> {
    #[serde(borrow)]
    pub(super) project_type: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DebateValue<'a> {
    /// Only this program says whether anything was compared.
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    pub(super) total_agents: Whole,
    pub(super) agents_compared: Whole,
    pub(super) agents_changed_position: Whole,
    pub(super) avg_confidence_increase: Number,
    pub(super) verdict_changed_after_round_2: Flag,
    pub(super) rounds_3_4_cost: Object<Money>,
}
