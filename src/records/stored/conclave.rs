//! Reads records of this program, of every version so far.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::tolerant::tolerant;
use crate::domain::artifact::{Artifact, Content};
use crate::domain::ids::ModelRef;
use crate::domain::stored_record::{CompletedRound, StoredRecord};
use crate::domain::time::Timestamp;

/// Reads a record; what has an unexpected type counts as missing. `None` if it is not an object.
pub(super) fn read(mut record: Value) -> Option<StoredRecord> {
    let completed = record.get_mut("completed_rounds").map(Value::take);
    let mut artifacts = take_artifacts(&mut record);
    let mut record: StoredRecord = tolerant(record)?;
    record.completed_rounds = completed.map(completed_rounds).unwrap_or_default();
    for (name, round) in &mut record.responses {
        round.artifacts = artifacts.remove(name).unwrap_or_default();
    }
    Some(complete(record))
}

/// Fills in what early versions did not write, and drops agents without an id.
pub(super) fn complete(mut record: StoredRecord) -> StoredRecord {
    record
        .agents
        .retain(|agent| !agent.id.as_str().trim().is_empty());
    let models: Vec<Option<ModelRef>> = record
        .agents
        .iter()
        .map(|agent| record.model_of(agent))
        .collect();
    for (agent, model) in record.agents.iter_mut().zip(models) {
        if agent.name.trim().is_empty() {
            agent.name = agent.id.as_str().to_owned();
        }
        agent.demonstration |= model.is_some_and(|model| model.is_demonstration());
    }
    for round in record.responses.values_mut() {
        round.complete.get_or_insert(false);
        round
            .agents
            .retain(|agent| !agent.agent_id.as_str().trim().is_empty());
        for agent in &mut round.agents {
            if agent.agent.trim().is_empty() {
                agent.agent = agent.agent_id.as_str().to_owned();
            }
        }
    }
    record.agreement = record.agreement.filter(|share| (0.0..=1.0).contains(share));
    let Some(verdict) = record.verdict().cloned() else {
        return record;
    };
    StoredRecord {
        recommendation: record.recommendation.or(Some(verdict.recommendation)),
        summary: record.summary.or(Some(verdict.summary)),
        confidence: record.confidence.or(verdict.confidence),
        ..record
    }
}

/// Takes the artifacts out of the rounds, and reads each by its type.
fn take_artifacts(record: &mut Value) -> BTreeMap<String, Vec<Artifact>> {
    let rounds = record.get_mut("responses").and_then(Value::as_object_mut);
    let rounds = rounds.into_iter().flatten();
    rounds
        .filter_map(|(name, round)| {
            let taken = round.as_object_mut()?.shift_remove("artifacts")?;
            Some((name.clone(), artifacts(taken)))
        })
        .collect()
}

fn artifacts(list: Value) -> Vec<Artifact> {
    let Value::Array(list) = list else {
        return Vec::new();
    };
    list.into_iter().filter_map(artifact).collect()
}

/// What all artifacts have in common.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Envelope {
    schema_version: String,
    round_number: u8,
    created_at: Timestamp,
    degraded: bool,
}

/// Reads an artifact; `None` for one of an unknown type.
fn artifact(value: Value) -> Option<Artifact> {
    let envelope: Envelope = tolerant(value.clone())?;
    let content = match value.get("artifact_type")?.as_str()? {
        "independent" => Content::Independent(tolerant(value)?),
        "synthesis" => Content::Synthesis(tolerant(value)?),
        "revision" => Content::Revision(tolerant(value)?),
        "cross_exam" => Content::CrossExam(tolerant(value)?),
        "verdict" => Content::Verdict(tolerant(value)?),
        "comparison" => Content::Comparison(tolerant(value)?),
        "casting" => Content::PersonaSelection(tolerant(value)?),
        _ => return None,
    };
    Some(Artifact {
        schema_version: envelope.schema_version,
        round_number: envelope.round_number,
        created_at: envelope.created_at,
        degraded: envelope.degraded,
        content,
    })
}

fn completed_rounds(rounds: Value) -> Vec<CompletedRound> {
    let Value::Array(rounds) = rounds else {
        return Vec::new();
    };
    rounds.into_iter().filter_map(completed_round).collect()
}

fn completed_round(mut round: Value) -> Option<CompletedRound> {
    if let Some(number) = round.as_u64() {
        return Some(CompletedRound::Number(u8::try_from(number).ok()?));
    }
    let number = round.get("round_number")?.as_u64()?;
    Some(CompletedRound::WithArtifacts {
        round_number: u8::try_from(number).ok()?,
        artifacts: artifacts(round.get_mut("artifacts")?.take()),
    })
}
