//! Reads records of this program, of every version so far.

use crate::domain::artifact::{CrossExam, Independent, Revision, Synthesis, Verdict};
use crate::domain::ids::{AgentId, ModelRef, ProviderId, SeatId};
use crate::domain::money::MicroUsd;
use crate::domain::stored_record::{
    RecordWriter, StoredAgent, StoredAgentRound, StoredEarlyTermination, StoredPersonaSelection,
    StoredRecord, StoredRound,
};

use super::artifacts::{self, Seats};
use super::debate_value::debate_value;
use super::fields::Fields;
use super::judge_passes::{rejudged, second_pass};

pub(super) fn read(record: Fields<'_>) -> StoredRecord {
    let experts = experts(record);
    let seats = Seats(&experts);
    let artifacts = Artifacts::read(record, seats);
    let verdict = artifacts.verdict;
    let cost = record.at("cost");
    StoredRecord {
        writer: RecordWriter::Conclave,
        schema_version: record.text("schema_version"),
        id: record.text_or_empty("consultation_id"),
        at: record.moment("timestamp"),
        question: record.text_or_empty("question"),
        mode: record.nonblank("mode"),
        state: record.nonblank("state"),
        status: record.nonblank("status"),
        degradations: record.texts("degradations"),
        persona_selection: record
            .get("casting")
            .map(|_| persona_selection(record.at("casting"))),
        judge: record.get("judge").and_then(|_| model(record.at("judge"))),
        independents: artifacts.independents,
        synthesis: artifacts.synthesis,
        revisions: artifacts.revisions,
        cross_exam: artifacts.cross_exam,
        recommendation: record.text("recommendation").or_else(|| {
            verdict
                .as_ref()
                .map(|verdict| verdict.recommendation.clone())
        }),
        summary: record
            .text("summary")
            .or_else(|| verdict.as_ref().map(|verdict| verdict.summary.clone())),
        confidence: record
            .confidence("confidence")
            .or_else(|| verdict.as_ref().and_then(|verdict| verdict.confidence)),
        verdict,
        agreement: record
            .number("agreement")
            .filter(|share| (0.0..=1.0).contains(share)),
        concerns: record.texts("concerns"),
        partial_consensus: record.nonblank("partial_consensus"),
        rounds: rounds(record),
        agent_rounds: agent_rounds(record),
        cost: record.cost("cost"),
        tokens: cost.at("tokens").count("total"),
        by_provider: cost
            .entries("by_provider")
            .filter_map(|(provider, spent)| Some((ProviderId::new(provider), spent.as_cost()?)))
            .collect(),
        duration: record.milliseconds("duration_ms"),
        abort_reason: record.nonblank("abort_reason"),
        abort_message: record.nonblank("abort_message"),
        aborted_during: record.nonblank("aborted_during"),
        early_termination: early_termination(record),
        debate: None,
        debate_value: debate_value(record),
        second_pass: second_pass(record, seats),
        rejudged: rejudged(record),
        rejudged_from: record.nonblank("rejudged_from"),
        expert_order: record
            .texts("expert_order")
            .into_iter()
            .map(SeatId::new)
            .collect(),
        project_type: record.at("project_context").nonblank("project_type"),
        prompt_versions: record
            .at("prompt_versions")
            .entries("templates")
            .filter_map(|(name, template)| Some((name.to_owned(), template.text("version")?)))
            .collect(),
        tool_version: record.text("tool_version"),
        grade: None,
        experts,
    }
}

/// Reads the early termination, which both programs write with the same keys.
pub(super) fn early_termination(record: Fields<'_>) -> Option<StoredEarlyTermination> {
    record
        .flag("early_termination")
        .filter(|early| *early)
        .map(|_| StoredEarlyTermination {
            reason: record.nonblank("early_termination_reason"),
            saved: record
                .number("estimated_cost_saved")
                .and_then(MicroUsd::from_usd),
        })
}

/// Reads the panel; a seat has the last fallback that took it over as its model.
fn experts(record: Fields<'_>) -> Vec<StoredAgent> {
    let fallback = |id: &str| {
        let last = record
            .each("substitutions")
            .filter(|substitution| substitution.text("agent_id").as_deref() == Some(id))
            .last()?;
        last.text("substitute")?.parse::<ModelRef>().ok()
    };
    let one = |agent: Fields<'_>| {
        let id = agent.nonblank("id")?;
        let name = agent.nonblank("name").unwrap_or_else(|| id.clone());
        Some(StoredAgent {
            name,
            model: fallback(&id).or_else(|| model(agent)),
            id: SeatId::new(id),
        })
    };
    record.each("agents").filter_map(one).collect()
}

fn persona_selection(persona_selection: Fields<'_>) -> StoredPersonaSelection {
    StoredPersonaSelection {
        task_type: persona_selection.text_or_empty("task_type"),
        reason: persona_selection.text_or_empty("reason"),
        chosen_by: persona_selection
            .text("chosen_by")
            .and_then(|model| model.parse().ok()),
        notes: persona_selection.texts("notes"),
    }
}

fn model(named: Fields<'_>) -> Option<ModelRef> {
    Some(ModelRef::new(
        named.nonblank("provider")?,
        named.nonblank("model")?,
    ))
}

/// The artifacts of all rounds, by type.
#[derive(Default)]
struct Artifacts {
    independents: Vec<Independent>,
    synthesis: Option<Synthesis>,
    revisions: Vec<Revision>,
    cross_exam: Option<CrossExam>,
    verdict: Option<Verdict>,
}

impl Artifacts {
    fn read(record: Fields<'_>, seats: Seats<'_>) -> Self {
        let mut read = Self::default();
        for (_, round) in record.entries("responses") {
            for artifact in round.each("artifacts") {
                match artifact.text("artifact_type").as_deref() {
                    Some("independent") => read
                        .independents
                        .push(artifacts::independent(artifact, seats)),
                    Some("synthesis") => {
                        read.synthesis = Some(artifacts::synthesis(artifact, seats));
                    }
                    Some("revision") => read.revisions.push(artifacts::revision(artifact, seats)),
                    Some("cross_exam") => {
                        read.cross_exam = Some(artifacts::cross_exam(artifact, seats));
                    }
                    Some("verdict") => read.verdict = Some(artifacts::verdict(artifact, seats)),
                    Some(_) | None => {}
                }
            }
        }
        read
    }
}

/// Returns the rounds by number; keys other than `round_N` are skipped.
fn numbered(record: Fields<'_>) -> impl Iterator<Item = (u8, Fields<'_>)> {
    record
        .entries("responses")
        .filter_map(|(name, round)| Some((name.strip_prefix("round_")?.parse().ok()?, round)))
}

fn rounds(record: Fields<'_>) -> Vec<StoredRound> {
    let one = |(number, round): (u8, Fields<'_>)| StoredRound {
        number,
        is_complete: round.flag("complete").unwrap_or_default(),
        duration: round.milliseconds("duration_ms"),
    };
    let mut rounds: Vec<StoredRound> = numbered(record).map(one).collect();
    rounds.sort_by_key(|round| round.number);
    rounds
}

fn agent_rounds(record: Fields<'_>) -> Vec<StoredAgentRound> {
    let mut rounds: Vec<StoredAgentRound> = numbered(record)
        .flat_map(|(number, round)| {
            round
                .each("agents")
                .filter_map(move |agent| agent_round(number, agent))
        })
        .collect();
    rounds.sort_by_key(|agent_round| agent_round.round);
    rounds
}

fn agent_round(round: u8, agent: Fields<'_>) -> Option<StoredAgentRound> {
    let id = agent.nonblank("agent_id")?;
    Some(StoredAgentRound {
        round,
        name: agent.nonblank("agent").unwrap_or_else(|| id.clone()),
        agent: AgentId::from(id),
        model: agent.text("model").and_then(|model| model.parse().ok()),
        served_model: agent.nonblank("served_model"),
        tokens: agent.at("tokens").count("total"),
        cost: agent.cost("cost"),
        first_token: agent.milliseconds("latency_ms"),
        duration: agent.milliseconds("duration_ms"),
        attempts: agent.each("attempts").count(),
        error: agent
            .at("error")
            .nonblank("message")
            .or_else(|| agent.nonblank("error")),
    })
}
