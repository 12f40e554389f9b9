//! Reads the panel from a record, and which of its agents agree with the answer.

use std::borrow::Cow;

use crate::records::index::lenient_json::{Object, Text};
use crate::records::index::record_fields::{
    DissentFields, RecordFields, SeatFields, SubstitutionFields,
};
use crate::records::index::rows::{AgentRole, AgentRow, UNKNOWN, millionths};

/// The judge's id.
const JUDGE: &str = "judge";

/// Returns the experts in the panel's order, then the judge.
pub(super) fn agents<'a>(record: &RecordFields<'a>) -> Vec<AgentRow<'a>> {
    let mut agents: Vec<AgentRow<'a>> = Vec::new();
    let supporters = supporters(record);
    let dissenters = dissenters(record);
    for seat in record
        .agents
        .all()
        .iter()
        .filter_map(|seat| seat.0.as_ref())
    {
        let Text(Some(id)) = &seat.id else { continue };
        // Two seats of one id would be one row.
        if id == JUDGE || agents.iter().any(|agent| agent.agent_id == *id) {
            continue;
        }
        let (provider, model) = round_1_model(record, seat);
        let perspective = record
            .perspectives
            .all()
            .iter()
            .filter_map(|perspective| perspective.0.as_ref())
            .find(|perspective| perspective.agent_id.0.as_ref() == Some(id));
        let is_named = |agent: &Text<'_>| names_seat(seat, agent);
        let agrees = match record.recommendation.0 {
            None => None,
            Some(_)
                if dissenters
                    .iter()
                    .filter_map(|dissent| dissent.0.as_ref())
                    .any(|dissent| is_named(&dissent.agent)) =>
            {
                Some(false)
            }
            Some(_) if supporters.iter().any(is_named) => Some(true),
            Some(_) => None,
        };
        let confidence = perspective.and_then(|perspective| perspective.confidence.share());
        agents.push(AgentRow {
            agent_id: id.clone(),
            model,
            provider,
            role: AgentRole::Expert,
            confidence,
            agrees,
        });
    }
    if let Object(Some(judge)) = &record.judge {
        agents.push(AgentRow {
            agent_id: Cow::Borrowed(JUDGE),
            model: named(&judge.model),
            provider: named(&judge.provider),
            role: AgentRole::Judge,
            confidence: record.confidence.share(),
            agrees: record.recommendation.0.as_ref().map(|_| true),
        });
    }
    agents
}

fn named<'a>(name: &Text<'a>) -> Cow<'a, str> {
    name.0.clone().unwrap_or(Cow::Borrowed(UNKNOWN))
}

/// Returns the provider and model that answered for a seat in Round 1, and so stated its
/// confidence: the last fallback by then, else the seat's own model.
fn round_1_model<'a>(
    record: &RecordFields<'a>,
    seat: &SeatFields<'a>,
) -> (Cow<'a, str>, Cow<'a, str>) {
    let substitutions = record
        .substitutions
        .all()
        .iter()
        .rev()
        .filter_map(|substitution| substitution.0.as_ref());
    let is_in_time = |substitution: &&SubstitutionFields<'a>| {
        substitution.round_number.0.is_none_or(|round| round <= 1)
    };
    let mut of_seat = substitutions
        .filter(|substitution| substitution.agent_id.0 == seat.id.0)
        .filter(is_in_time);
    let fallback = of_seat.find_map(|substitution| {
        let (provider, model) = split(substitution.substitute.0.clone()?);
        Some((provider?, model?))
    });
    fallback.unwrap_or_else(|| (named(&seat.provider), named(&seat.model)))
}

/// Splits `provider:model`; `None` for both where either is missing.
pub(super) fn split(model: Cow<'_, str>) -> (Option<Cow<'_, str>>, Option<Cow<'_, str>>) {
    let parts = match model {
        Cow::Borrowed(model) => model
            .split_once(':')
            .map(|(provider, model)| (Cow::Borrowed(provider), Cow::Borrowed(model))),
        Cow::Owned(model) => model.split_once(':').map(|(provider, model)| {
            (
                Cow::Owned(provider.to_owned()),
                Cow::Owned(model.to_owned()),
            )
        }),
    };
    parts
        .filter(|(provider, model)| !provider.is_empty() && !model.is_empty())
        .unzip()
}

/// Returns the supporters of the synthesis's leading consensus point: that of the highest stated
/// confidence, the first among equals.
fn supporters<'r, 'a>(record: &'r RecordFields<'a>) -> &'r [Text<'a>] {
    let points = artifact(record, 2, "synthesis")
        .map(|synthesis| synthesis.consensus_points.all())
        .unwrap_or_default();
    let points = points.iter().filter_map(|point| point.0.as_ref());
    let leading = points
        .rev()
        .max_by_key(|point| point.confidence.share().map(millionths));
    leading
        .map(|leading| leading.supporting_agents.all())
        .unwrap_or_default()
}

/// Returns the verdict's dissent, by ids; in a record without the verdict's artifact, by names.
fn dissenters<'r, 'a>(record: &'r RecordFields<'a>) -> &'r [Object<DissentFields<'a>>] {
    artifact(record, 4, "verdict").map_or(record.dissent.all(), |verdict| verdict.dissent.all())
}

fn artifact<'r, 'a>(
    record: &'r RecordFields<'a>,
    round: u8,
    kind: &str,
) -> Option<&'r crate::records::index::record_fields::ArtifactFields<'a>> {
    let artifacts = record.responses.of(round)?.artifacts.all();
    artifacts
        .iter()
        .filter_map(|artifact| artifact.0.as_ref())
        .find(|artifact| artifact.kind.0.as_deref() == Some(kind))
}

/// Returns whether text is a seat's id or name.
fn names_seat(seat: &SeatFields<'_>, agent: &Text<'_>) -> bool {
    let Text(Some(agent)) = agent else {
        return false;
    };
    [&seat.id, &seat.name]
        .into_iter()
        .filter_map(|name| name.0.as_ref())
        .any(|name| name.eq_ignore_ascii_case(agent))
}
