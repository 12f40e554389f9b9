//! Reads records with unexpected values.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::tolerant::tolerant;
use crate::domain::artifact::{Artifact, Content, MissingFieldError};
use crate::domain::ids::ModelRef;
use crate::domain::stored_record::{CompletedRound, StoredRecord};
use crate::domain::time::Timestamp;

/// Reads a record; what has an unexpected type counts as missing. `None` if it is not an object.
///
/// Artifacts without a version are not used, and a degradation of the record says so.
pub(super) fn read(mut record: Value) -> Option<StoredRecord> {
    let completed = record.get_mut("completed_rounds").map(Value::take);
    let (mut artifacts, refused) = take_artifacts(&mut record);
    let mut record: StoredRecord = tolerant(record)?;
    record.completed_rounds = completed.map(completed_rounds).unwrap_or_default();
    record.degradations.extend(refused);
    for (name, round) in &mut record.responses {
        round.artifacts = artifacts.remove(name).unwrap_or_default();
    }
    Some(complete(record))
}

/// Fills in what follows from other fields, and drops agents without an id.
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
    if verdict.composed_from.is_some() {
        record.dissent.clear();
    }
    StoredRecord {
        recommendation: record.recommendation.or(Some(verdict.recommendation)),
        summary: record.summary.or(Some(verdict.summary)),
        confidence: record.confidence.or(verdict.confidence),
        ..record
    }
}

/// Takes the artifacts out of the rounds, and reads each by its type. Also returns a sentence for
/// each that is refused.
fn take_artifacts(record: &mut Value) -> (BTreeMap<String, Vec<Artifact>>, Vec<String>) {
    let (mut artifacts, mut refused) = (BTreeMap::new(), Vec::new());
    let rounds = record.get_mut("responses").and_then(Value::as_object_mut);
    for (name, round) in rounds.into_iter().flatten() {
        let taken = round.as_object_mut();
        let Some(Value::Array(list)) = taken.and_then(|round| round.shift_remove("artifacts"))
        else {
            continue;
        };
        refused.extend(list.iter().filter_map(|value| refusal(name, value)));
        artifacts.insert(
            name.clone(),
            list.into_iter().filter_map(artifact).collect(),
        );
    }
    (artifacts, refused)
}

/// Returns the reason why an artifact is not used, if it has no version.
fn refusal(round: &str, value: &Value) -> Option<String> {
    let kind = value.get("artifact_type")?.as_str()?;
    let why = version(value).err()?;
    Some(format!(
        "the artifact `{kind}` of {round} is not used: {why}"
    ))
}

fn version(value: &Value) -> Result<String, MissingFieldError> {
    let version = value.get("schema_version").and_then(Value::as_str);
    version
        .map(ToOwned::to_owned)
        .ok_or(MissingFieldError::VERSION)
}

/// What all artifacts have in common.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Envelope {
    round_number: u8,
    created_at: Timestamp,
    degraded: bool,
}

/// Reads an artifact; `None` for one of an unknown type or without a version.
fn artifact(value: Value) -> Option<Artifact> {
    let schema_version = version(&value).ok()?;
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
        schema_version,
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
    let Value::Array(artifacts) = round.get_mut("artifacts")?.take() else {
        return None;
    };
    Some(CompletedRound::WithArtifacts {
        round_number: u8::try_from(number).ok()?,
        artifacts: artifacts.into_iter().filter_map(artifact).collect(),
    })
}
