//! Reads records of the original `llm-conclave`: of its current version, of earlier ones, and of
//! cancelled runs.
//!
//! Its confidence is a plain number, and 0 where there is none: 0 counts only where a verdict of
//! Round 4 states it. It refers to agents by name where it has no ids, and states no cost of single
//! calls.

use crate::domain::artifact::{Independent, Synthesis, Verdict};
use crate::domain::confidence::Confidence;
use crate::domain::ids::{AgentId, ModelRef, ProviderId, SeatId};
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::stored_record::{
    RecordWriter, StoredAgent, StoredAgentRound, StoredDebate, StoredRecord, StoredRound,
};

use super::artifacts::{self, Seats, letters};
use super::fields::Fields;
use super::{conclave, vendors};

pub(super) fn read(record: Fields<'_>) -> StoredRecord {
    let experts = experts(record);
    let seats = Seats(&experts);
    let responses = record.at("responses");
    let independents = independents(record, seats);
    let synthesis = responses
        .object("round2")
        .map(|_| artifacts::synthesis(responses.at("round2"), seats));
    let cross_exam = responses
        .object("round3")
        .map(|_| artifacts::cross_exam(responses.at("round3"), seats));
    let verdict = verdict(record, seats);
    let early_termination = conclave::early_termination(record);
    StoredRecord {
        writer: RecordWriter::LlmConclave,
        schema_version: record.text("schema_version"),
        id: record.text_or_empty("consultation_id"),
        at: record.moment("timestamp"),
        question: record.text_or_empty("question"),
        mode: record.nonblank("mode"),
        state: state(record, verdict.as_ref()),
        status: record.nonblank("status"),
        degradations: Vec::new(),
        persona_selection: None,
        judge: None,
        agreement: agreement(&independents, synthesis.as_ref()),
        recommendation: verdict
            .as_ref()
            .map(|verdict| verdict.recommendation.clone()),
        summary: verdict
            .as_ref()
            .map(|verdict| verdict.summary.clone())
            .filter(|summary| !summary.is_empty()),
        confidence: verdict.as_ref().and_then(|verdict| verdict.confidence),
        concerns: record.texts("concerns"),
        partial_consensus: if verdict.is_none() {
            partial_consensus(record, synthesis.as_ref())
        } else {
            None
        },
        rounds: rounds(record),
        agent_rounds: agent_rounds(record, seats),
        cost: cost(record),
        tokens: tokens(record.at("cost").at("tokens")),
        by_provider: by_provider(record),
        duration: record.milliseconds("duration_ms"),
        abort_reason: record
            .nonblank("abort_reason")
            .or_else(|| record.nonblank("cancellation_reason")),
        abort_message: None,
        aborted_during: None,
        early_termination,
        debate: debate(record),
        debate_value: None,
        second_pass: None,
        rejudged: None,
        rejudged_from: None,
        expert_order: Vec::new(),
        project_type: record.at("project_context").nonblank("project_type"),
        prompt_versions: prompt_versions(record),
        tool_version: None,
        grade: None,
        independents,
        synthesis,
        revisions: Vec::new(),
        cross_exam,
        verdict,
        experts,
    }
}

/// Early versions wrote no state: a record with an answer was complete.
fn state(record: Fields<'_>, verdict: Option<&Verdict>) -> Option<String> {
    record.nonblank("state").or_else(|| {
        verdict
            .filter(|_| record.nonblank("abort_reason").is_none())
            .map(|_| "complete".to_owned())
    })
}

/// Reads the panel. A seat's id is the one in its answers; without one, its name.
fn experts(record: Fields<'_>) -> Vec<StoredAgent> {
    let responses = || record.each("agent_responses");
    let by_response = |name: &str| {
        responses()
            .find(|response| response.text("agent_name").as_deref() == Some(name))?
            .nonblank("agent_id")
    };
    let by_artifact = |name: &str| {
        let ids = record
            .at("responses")
            .each("round1")
            .filter_map(|artifact| artifact.nonblank("agent_id"));
        ids.into_iter().find(|id| letters(id).eq(letters(name)))
    };
    let one = |agent: Fields<'_>| {
        let name = agent
            .as_text()
            .map(str::to_owned)
            .or_else(|| agent.nonblank("name"))
            .or_else(|| agent.nonblank("agent"))?;
        let id = agent
            .nonblank("id")
            .or_else(|| by_response(&name))
            .or_else(|| by_artifact(&name))
            .unwrap_or_else(|| name.clone());
        let model = agent
            .nonblank("model")
            .map(|model| vendors::model(agent.text("provider").as_deref(), &model));
        Some(StoredAgent {
            id: SeatId::new(id),
            name,
            model,
        })
    };
    let panel: Vec<StoredAgent> = record.each("agents").filter_map(one).collect();
    // Without a panel, the experts with a position are the panel.
    if panel.is_empty() {
        record.each("perspectives").filter_map(one).collect()
    } else {
        panel
    }
}

/// Reads the answers of Round 1; in a record without them, the positions. Partial answers of
/// cancelled experts are added.
fn independents(record: Fields<'_>, seats: Seats<'_>) -> Vec<Independent> {
    let mut answers: Vec<Independent> = record
        .at("responses")
        .each("round1")
        .map(|artifact| artifacts::independent(artifact, seats))
        .collect();
    if answers.is_empty() {
        answers.extend(record.each("perspectives").map(|held| Independent {
            agent_id: SeatId::new(seats.agent(held, "agent")),
            position: held.text_or_empty("opinion"),
            ..artifacts::independent(held, seats)
        }));
    }
    let unfinished = record
        .each("partial_agents")
        .filter(|agent| agent.count("round") == Some(1));
    let partial: Vec<Independent> = unfinished
        .filter_map(|agent| Some((seats.agent(agent, "agent_id"), agent.nonblank("response")?)))
        .filter(|(id, _)| answers.iter().all(|answer| answer.agent_id.as_str() != id))
        .map(|(id, response)| Independent {
            agent_id: SeatId::new(id),
            position: response,
            key_points: Vec::new(),
            rationale: String::new(),
            confidence: None,
            prose_excerpt: String::new(),
        })
        .collect();
    answers.extend(partial);
    answers
}

/// Reads Round 4; in a record without it, the stated answer.
fn verdict(record: Fields<'_>, seats: Seats<'_>) -> Option<Verdict> {
    let responses = record.at("responses");
    let stated = responses
        .object("round4")
        .map(|_| artifacts::verdict(responses.at("round4"), seats));
    let recommendation = stated
        .as_ref()
        .map(|verdict| verdict.recommendation.clone())
        .filter(|text| !text.trim().is_empty());
    let answer = || {
        record
            .nonblank("recommendation")
            .or_else(|| record.nonblank("final_recommendation"))
    };
    let recommendation = recommendation
        .or_else(answer)
        .or_else(|| record.nonblank("consensus").filter(|_| stated.is_some()))?;
    let confidence = match &stated {
        Some(verdict) => verdict.confidence.or_else(|| stated_confidence(record)),
        None => stated_confidence(record),
    };
    let mut verdict = stated.unwrap_or_else(|| artifacts::verdict(record, seats));
    if verdict.dissent.is_empty() {
        verdict.dissent = artifacts::dissent(record, seats);
    }
    if verdict.summary.is_empty() {
        // Written beside the recommendation, and often equal to it.
        verdict.summary = record
            .nonblank("consensus")
            .filter(|consensus| *consensus != recommendation)
            .unwrap_or_default();
    }
    Some(Verdict {
        recommendation,
        confidence,
        ..verdict
    })
}

/// Reads the confidence beside the answer, where 0 stands for none.
fn stated_confidence(record: Fields<'_>) -> Option<Confidence> {
    record
        .confidence("confidence")
        .filter(|confidence| confidence.value() > 0.0)
}

fn partial_consensus(record: Fields<'_>, synthesis: Option<&Synthesis>) -> Option<String> {
    let points = || {
        let points: Vec<&str> = synthesis?
            .consensus_points
            .iter()
            .map(|point| point.point.as_str())
            .collect();
        Some(points.join("\n")).filter(|points| !points.trim().is_empty())
    };
    record.nonblank("consensus").or_else(points)
}

/// Returns the share of experts that support the leading point; `None` where the judge named one
/// that did not answer.
#[expect(clippy::cast_precision_loss, reason = "a panel has few seats")]
fn agreement(independents: &[Independent], synthesis: Option<&Synthesis>) -> Option<f64> {
    let supporting = &synthesis?.leading()?.supporting_agents;
    let answered = |agent: &str| {
        independents
            .iter()
            .any(|held| held.agent_id.as_str() == agent)
    };
    let counted = independents
        .iter()
        .filter(|held| {
            supporting
                .iter()
                .any(|agent| agent == held.agent_id.as_str())
        })
        .count();
    let is_known = !independents.is_empty()
        && !supporting.is_empty()
        && supporting.iter().all(|agent| answered(agent));
    is_known.then(|| counted as f64 / independents.len() as f64)
}

/// Reads the rounds with artifacts. Their durations are not recorded.
fn rounds(record: Fields<'_>) -> Vec<StoredRound> {
    let responses = record.at("responses");
    let completed = record.count("completed_rounds");
    let named: Vec<String> = record
        .texts("completed_round_names")
        .iter()
        .map(|name| letters(name).collect())
        .collect();
    let is_there = |number: u8| match number {
        1 => responses.each("round1").next().is_some(),
        other => responses.object(&format!("round{other}")).is_some(),
    };
    let is_complete = |number: u8| {
        let counted = completed.map(|completed| u64::from(number) <= completed);
        counted.unwrap_or(true) || named.contains(&format!("round{number}"))
    };
    let begun = |number: &u8| {
        is_there(*number)
            || record
                .each("partial_agents")
                .any(|agent| agent.count("round") == Some((*number).into()))
    };
    (1..=4)
        .filter(begun)
        .map(|number| StoredRound {
            number,
            is_complete: is_there(number) && is_complete(number),
            duration: None,
        })
        .collect()
}

/// Reads the agents' answers of Round 1, and the calls that were in flight at the end.
fn agent_rounds(record: Fields<'_>, seats: Seats<'_>) -> Vec<StoredAgentRound> {
    let answered = record.each("agent_responses").map(|agent| {
        let id = seats.id(&agent
            .nonblank("agent_id")
            .or_else(|| agent.nonblank("agent_name"))
            .unwrap_or_default());
        let model = agent
            .nonblank("model")
            .map(|model| vendors::model(agent.text("provider").as_deref(), &model));
        StoredAgentRound {
            round: 1,
            tokens: tokens(agent.at("tokens")),
            duration: agent.milliseconds("duration_ms"),
            error: agent
                .nonblank("error")
                .or_else(|| agent.nonblank("provider_error")),
            ..empty_agent_round(seats, id, model)
        }
    });
    let unfinished = record.each("partial_agents").filter_map(|agent| {
        let round = u8::try_from(agent.count("round")?).ok()?;
        let error = Some("was not finished when the consultation ended".to_owned());
        Some(StoredAgentRound {
            round,
            error,
            ..empty_agent_round(seats, seats.agent(agent, "agent_id"), None)
        })
    });
    answered.chain(unfinished).collect()
}

fn empty_agent_round(seats: Seats<'_>, id: String, model: Option<ModelRef>) -> StoredAgentRound {
    let seat = seats.0.iter().find(|seat| seat.id.as_str() == id);
    StoredAgentRound {
        round: 1,
        name: seat.map_or_else(|| id.clone(), |seat| seat.name.clone()),
        model: model.or_else(|| seat.and_then(|seat| seat.model.clone())),
        agent: AgentId::from(id),
        served_model: None,
        tokens: None,
        cost: None,
        first_token: None,
        duration: None,
        attempts: 1,
        error: None,
    }
}

fn cost(record: Fields<'_>) -> Option<Cost> {
    let decimal = || {
        record
            .number("actual_cost")
            .and_then(MicroUsd::from_usd)
            .map(Cost::exactly)
    };
    record.cost("cost").or_else(decimal)
}

fn tokens(tokens: Fields<'_>) -> Option<u64> {
    tokens.count("total").or_else(|| {
        Some(
            tokens
                .count("input")?
                .saturating_add(tokens.count("output")?),
        )
    })
}

/// Reads the cost by our provider ids; unknown providers share one.
fn by_provider(record: Fields<'_>) -> Vec<(ProviderId, Cost)> {
    let mut sums: Vec<(ProviderId, Cost)> = Vec::new();
    for (name, spent) in record.at("cost").entries("breakdown") {
        let (provider, Some(cost)) = (ProviderId::new(vendors::provider(name)), spent.as_cost())
        else {
            continue;
        };
        match sums.iter_mut().find(|(there, _)| *there == provider) {
            Some((_, sum)) => *sum += cost,
            None => sums.push((provider, cost)),
        }
    }
    sums
}

fn debate(record: Fields<'_>) -> Option<StoredDebate> {
    let analysis = record.at("debate_value_analysis");
    let experts = analysis.count("total_agents")?;
    let changed = analysis.count("agents_changed_position")?.min(experts);
    let single: Vec<f64> = analysis
        .each("agent_analyses")
        .filter_map(|agent| agent.number("confidence_delta"))
        .collect();
    // The average is over all experts: that many rises of it have the same sum.
    let average = || {
        analysis
            .number("avg_confidence_increase")
            .into_iter()
            .flat_map(|rise| (0..experts.min(64)).map(move |_| rise))
            .collect()
    };
    let rises: Vec<f64> = if single.is_empty() { average() } else { single };
    Some(StoredDebate {
        experts,
        changed,
        rises: rises
            .into_iter()
            .filter(|rise| (-1.0..=1.0).contains(rise))
            .collect(),
    })
}

/// Reads `independent_prompt_version: 1.0` as `independent` and `1.0`.
fn prompt_versions(record: Fields<'_>) -> Vec<(String, String)> {
    let stem = |key: &str| {
        let stem = key
            .strip_suffix("_prompt_version")
            .or_else(|| key.strip_suffix("PromptVersion"));
        stem.map(|stem| {
            if stem == "crossExam" {
                "cross_exam"
            } else {
                stem
            }
            .to_owned()
        })
    };
    let versions = record.entries("prompt_versions");
    versions
        .filter_map(|(key, version)| Some((stem(key)?, version.as_text()?.to_owned())))
        .collect()
}
