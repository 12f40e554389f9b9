//! Reads from a record who sat on the panel, and who of them stands behind the answer.

use std::borrow::Cow;

use super::{UNKNOWN, millionths};
use crate::records::index::lenient_json::{Object, Text};
use crate::records::index::record_fields::{Dissent, Record, Seat, Substitution};
use crate::records::index::rows::{AgentRow, Role};

/// The judge's place.
const JUDGE: &str = "judge";

/// The experts in the panel's order, then the judge.
pub(super) fn agents<'a>(record: &Record<'a>) -> Vec<AgentRow<'a>> {
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
        let (provider, model) = player(record, seat);
        let held = record
            .perspectives
            .all()
            .iter()
            .filter_map(|held| held.0.as_ref())
            .find(|held| held.agent_id.0.as_ref() == Some(id));
        let is_named = |agent: &Text<'_>| is_called(seat, agent);
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
        let confidence = held.and_then(|held| held.confidence.share());
        agents.push(AgentRow {
            agent_id: id.clone(),
            model,
            provider,
            role: Role::Expert,
            confidence,
            agrees,
        });
    }
    if let Object(Some(judge)) = &record.judge {
        agents.push(AgentRow {
            agent_id: Cow::Borrowed(JUDGE),
            model: named(&judge.model),
            provider: named(&judge.provider),
            role: Role::Judge,
            confidence: record.confidence.share(),
            agrees: record.recommendation.0.as_ref().map(|_| true),
        });
    }
    agents
}

fn named<'a>(name: &Text<'a>) -> Cow<'a, str> {
    name.0.clone().unwrap_or(Cow::Borrowed(UNKNOWN))
}

/// Provider and model of who answered for a seat in Round 1, which is whose confidence it is: the
/// last one that took it over by then, else the one it was given.
fn player<'a>(record: &Record<'a>, seat: &Seat<'a>) -> (Cow<'a, str>, Cow<'a, str>) {
    let substitutions = record
        .substitutions
        .all()
        .iter()
        .rev()
        .filter_map(|substitution| substitution.0.as_ref());
    let is_in_time = |substitution: &&Substitution<'a>| {
        substitution.round_number.0.is_none_or(|round| round <= 1)
    };
    let mut of_seat = substitutions
        .filter(|substitution| substitution.agent_id.0 == seat.id.0)
        .filter(is_in_time);
    let taken_over = of_seat.find_map(|substitution| {
        let (provider, model) = split(substitution.substitute.0.clone()?);
        Some((provider?, model?))
    });
    taken_over.unwrap_or_else(|| (named(&seat.provider), named(&seat.model)))
}

/// Provider and model of `provider:model`.
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

/// Who supports the leading consensus point of the synthesis: that of the highest stated
/// confidence, the first of equals.
fn supporters<'r, 'a>(record: &'r Record<'a>) -> &'r [Text<'a>] {
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

/// The verdict's dissent, by ids; in a record without the verdict's artifact, by names.
fn dissenters<'r, 'a>(record: &'r Record<'a>) -> &'r [Object<Dissent<'a>>] {
    artifact(record, 4, "verdict").map_or(record.dissent.all(), |verdict| verdict.dissent.all())
}

fn artifact<'r, 'a>(
    record: &'r Record<'a>,
    round: u8,
    kind: &str,
) -> Option<&'r crate::records::index::record_fields::Artifact<'a>> {
    let artifacts = record.responses.of(round)?.artifacts.all();
    artifacts
        .iter()
        .filter_map(|artifact| artifact.0.as_ref())
        .find(|artifact| artifact.kind.0.as_deref() == Some(kind))
}

/// Whether text names a seat: by its id, else by its name.
fn is_called(seat: &Seat<'_>, agent: &Text<'_>) -> bool {
    let Text(Some(agent)) = agent else {
        return false;
    };
    [&seat.id, &seat.name]
        .into_iter()
        .filter_map(|name| name.0.as_ref())
        .any(|name| name.eq_ignore_ascii_case(agent))
}
