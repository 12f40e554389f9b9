//! Reads records of the original `llm-conclave`: of its current version, of earlier ones, and of
//! cancelled runs.
//!
//! Its confidence is a plain number, and 0 where there is none: 0 counts only where a verdict of
//! Round 4 states it. It refers to agents by name where it has no ids, and states no cost of single
//! calls.

use std::collections::BTreeMap;

use crate::domain::artifact::{Artifact, Content, CrossExam, Independent, Synthesis, Verdict};
use crate::domain::confidence::Confidence;
use crate::domain::context::ProjectContext;
use crate::domain::ids::{AgentId, ModelRef, ProviderId, SeatId};
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::stored_record::{
    PromptTemplate, PromptVersions, RecordWriter, StoredAgent, StoredAgentRound, StoredAttempt,
    StoredCost, StoredDebate, StoredError, StoredRecord, StoredRound, StoredSpend, TokenCounts,
};
use crate::domain::time::Timestamp;

use super::artifacts::{self, Seats, letters};
use super::fields::{JsonFields, snake};
use super::vendors;

pub(super) fn read(record: JsonFields<'_>) -> StoredRecord {
    let agents = agents(record);
    let seats = Seats(&agents);
    let answers = RecordedAnswers::read(record, seats);
    let verdict = answers.verdict.as_ref();
    StoredRecord {
        writer: RecordWriter::LlmConclave,
        schema_version: record.text("schema_version"),
        id: record.text_or_empty("consultation_id"),
        at: record.moment("timestamp"),
        question: record.text_or_empty("question"),
        mode: record.nonblank("mode"),
        state: state(record, verdict),
        status: record.nonblank("status"),
        agreement: agreement(&answers.independents, answers.synthesis.as_ref()),
        recommendation: verdict.map(|verdict| verdict.recommendation.clone()),
        summary: verdict
            .map(|verdict| verdict.summary.clone())
            .filter(|summary| !summary.is_empty()),
        confidence: verdict.and_then(|verdict| verdict.confidence),
        concerns: record.texts("concerns"),
        partial_consensus: if verdict.is_none() {
            partial_consensus(record, answers.synthesis.as_ref())
        } else {
            None
        },
        cost: cost(record),
        duration_ms: record.count("duration_ms"),
        abort_reason: record
            .nonblank("abort_reason")
            .or_else(|| record.nonblank("cancellation_reason")),
        early_termination: record.flag("early_termination") == Some(true),
        early_termination_reason: record.nonblank("early_termination_reason"),
        estimated_cost_saved: record.number("estimated_cost_saved"),
        debate: debate(record),
        project_context: record.at("project_context").nonblank("project_type").map(
            |project_type| ProjectContext {
                project_type,
                ..ProjectContext::default()
            },
        ),
        prompt_versions: prompt_versions(record),
        responses: responses(record, answers, seats),
        agents,
        ..StoredRecord::default()
    }
}

/// The artifacts of all rounds.
struct RecordedAnswers {
    independents: Vec<Independent>,
    synthesis: Option<Synthesis>,
    cross_exam: Option<CrossExam>,
    verdict: Option<Verdict>,
}

impl RecordedAnswers {
    fn read(record: JsonFields<'_>, seats: Seats<'_>) -> Self {
        let responses = record.at("responses");
        Self {
            independents: independents(record, seats),
            synthesis: responses
                .object("round2")
                .map(|_| artifacts::content(responses.at("round2"), seats)),
            cross_exam: responses
                .object("round3")
                .map(|_| artifacts::content(responses.at("round3"), seats)),
            verdict: verdict(record, seats),
        }
    }

    /// Returns the artifacts. The times at which they were made are not read.
    fn into_artifacts(self) -> impl Iterator<Item = Artifact> {
        let independents = self.independents.into_iter().map(Content::Independent);
        independents
            .chain(self.synthesis.map(Content::Synthesis))
            .chain(self.cross_exam.map(Content::CrossExam))
            .chain(self.verdict.map(Content::Verdict))
            .map(|content| Artifact::stamp(content, Timestamp::default(), false))
    }
}

/// Returns the rounds with their artifacts and agents.
fn responses(
    record: JsonFields<'_>,
    answers: RecordedAnswers,
    seats: Seats<'_>,
) -> BTreeMap<String, StoredRound> {
    let mut responses = rounds(record);
    for artifact in answers.into_artifacts() {
        let round = responses.entry(round_name(artifact.round_number));
        round.or_default().artifacts.push(artifact);
    }
    for (number, agent) in agent_rounds(record, seats) {
        let round = responses.entry(round_name(number));
        round.or_default().agents.push(agent);
    }
    responses
}

fn round_name(number: u8) -> String {
    format!("round_{number}")
}

/// Early versions wrote no state: a record with an answer was complete.
fn state(record: JsonFields<'_>, verdict: Option<&Verdict>) -> Option<String> {
    record.nonblank("state").or_else(|| {
        verdict
            .filter(|_| record.nonblank("abort_reason").is_none())
            .map(|_| "complete".to_owned())
    })
}

/// Reads the panel. A seat's id is the one in its answers; without one, its name.
fn agents(record: JsonFields<'_>) -> Vec<StoredAgent> {
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
    let one = |agent: JsonFields<'_>| {
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
            persona: None,
            provider: model
                .as_ref()
                .map(|model| model.provider.as_str().to_owned()),
            model: model.map(|model| model.model),
            demonstration: false,
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
fn independents(record: JsonFields<'_>, seats: Seats<'_>) -> Vec<Independent> {
    let mut answers: Vec<Independent> = record
        .at("responses")
        .each("round1")
        .map(|artifact| artifacts::content(artifact, seats))
        .collect();
    if answers.is_empty() {
        answers.extend(record.each("perspectives").map(|held| Independent {
            agent_id: SeatId::new(seats.agent(held, "agent")),
            position: held.text_or_empty("opinion"),
            ..artifacts::content(held, seats)
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
            ..Independent::default()
        })
        .collect();
    answers.extend(partial);
    answers
}

/// Reads Round 4; in a record without it, the stated answer.
fn verdict(record: JsonFields<'_>, seats: Seats<'_>) -> Option<Verdict> {
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
    let in_verdict = stated.as_ref().and_then(|verdict| verdict.confidence);
    let confidence = in_verdict.or_else(|| stated_confidence(record));
    let beside = artifacts::verdict(record, seats);
    let mut verdict = stated.unwrap_or_else(|| beside.clone());
    if verdict.dissent.is_empty() {
        verdict.dissent = beside.dissent;
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
fn stated_confidence(record: JsonFields<'_>) -> Option<Confidence> {
    record
        .confidence("confidence")
        .filter(|confidence| confidence.value() > 0.0)
}

fn partial_consensus(record: JsonFields<'_>, synthesis: Option<&Synthesis>) -> Option<String> {
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
    let experts: Vec<&str> = independents
        .iter()
        .map(|held| held.agent_id.as_str())
        .collect();
    let supports = |expert: &&&str| supporting.iter().any(|agent| agent == **expert);
    let counted = experts.iter().filter(supports).count();
    let is_known = !supporting.is_empty()
        && supporting
            .iter()
            .all(|agent| experts.contains(&agent.as_str()));
    is_known.then(|| counted as f64 / experts.len() as f64)
}

/// Reads the rounds with artifacts. Their durations are not recorded.
fn rounds(record: JsonFields<'_>) -> BTreeMap<String, StoredRound> {
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
        .map(|number| {
            let round = StoredRound {
                complete: Some(is_there(number) && is_complete(number)),
                ..StoredRound::default()
            };
            (round_name(number), round)
        })
        .collect()
}

/// Reads the agents' answers of Round 1, and the calls that were in flight at the end.
fn agent_rounds(record: JsonFields<'_>, seats: Seats<'_>) -> Vec<(u8, StoredAgentRound)> {
    let answered = record.each("agent_responses").map(|agent| {
        let id = seats.id(&agent
            .nonblank("agent_id")
            .or_else(|| agent.nonblank("agent_name"))
            .unwrap_or_default());
        let model = agent
            .nonblank("model")
            .map(|model| vendors::model(agent.text("provider").as_deref(), &model));
        let failure = agent
            .nonblank("error")
            .or_else(|| agent.nonblank("provider_error"));
        let answered = StoredAgentRound {
            tokens: tokens(agent.at("tokens")),
            duration_ms: agent.count("duration_ms"),
            error: failure.map(|message| StoredError {
                class: None,
                message,
            }),
            ..empty_agent_round(seats, id, model)
        };
        (1, answered)
    });
    let unfinished = record.each("partial_agents").filter_map(|agent| {
        let round = u8::try_from(agent.count("round")?).ok()?;
        let unfinished = StoredAgentRound {
            error: Some(StoredError {
                class: None,
                message: "was not finished when the consultation ended".to_owned(),
            }),
            ..empty_agent_round(seats, seats.agent(agent, "agent_id"), None)
        };
        Some((round, unfinished))
    });
    answered.chain(unfinished).collect()
}

fn empty_agent_round(seats: Seats<'_>, id: String, model: Option<ModelRef>) -> StoredAgentRound {
    let seat = seats.0.iter().find(|seat| seat.id.as_str() == id);
    StoredAgentRound {
        agent: seat.map_or_else(|| id.clone(), |seat| seat.name.clone()),
        model: model.or_else(|| seat.and_then(StoredAgent::chosen_model)),
        agent_id: AgentId::from(id),
        answer: None,
        served_model: None,
        tokens: None,
        cost: None,
        latency_ms: None,
        duration_ms: None,
        attempts: vec![StoredAttempt::default()],
        problems: Vec::new(),
        error: None,
    }
}

/// Reads the cost with its parts by our provider ids; unknown providers share one. `None` where
/// nothing is recorded.
fn cost(record: JsonFields<'_>) -> Option<StoredCost> {
    let decimal = || {
        record
            .number("actual_cost")
            .and_then(MicroUsd::from_usd)
            .map(Cost::exactly)
    };
    let total = record.at("cost").as_cost().or_else(decimal);
    let stored = StoredCost {
        tokens: tokens(record.at("cost").at("tokens")).unwrap_or_default(),
        usd: total.map(|total| total.known.usd()),
        micro_usd: total.map(|total| total.known),
        lower_bound: total.is_some_and(|total| total.lower_bound),
        by_provider: by_provider(record),
        ..StoredCost::default()
    };
    (stored != StoredCost::default()).then_some(stored)
}

fn tokens(tokens: JsonFields<'_>) -> Option<TokenCounts> {
    let (input, output) = (tokens.count("input"), tokens.count("output"));
    let sum = || Some(input?.saturating_add(output?));
    let counts = TokenCounts {
        input,
        output,
        total: tokens.count("total").or_else(sum),
        ..TokenCounts::default()
    };
    (counts != TokenCounts::default()).then_some(counts)
}

fn by_provider(record: JsonFields<'_>) -> BTreeMap<ProviderId, StoredSpend> {
    let mut sums: BTreeMap<ProviderId, Cost> = BTreeMap::new();
    for (name, spent) in record.at("cost").entries("breakdown") {
        if let Some(cost) = spent.as_cost() {
            let provider = ProviderId::new(vendors::provider(name));
            *sums.entry(provider).or_default() += cost;
        }
    }
    let spend = |cost: Cost| StoredSpend {
        usd: Some(cost.known.usd()),
        micro_usd: Some(cost.known),
        lower_bound: cost.lower_bound,
        ..StoredSpend::default()
    };
    sums.into_iter()
        .map(|(provider, cost)| (provider, spend(cost)))
        .collect()
}

fn debate(record: JsonFields<'_>) -> Option<StoredDebate> {
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

/// Reads `independent_prompt_version: 1.0` as the version `1.0` of the template `independent`.
fn prompt_versions(record: JsonFields<'_>) -> PromptVersions {
    let stem = |key: &str| {
        snake(key)
            .strip_suffix("_prompt_version")
            .map(str::to_owned)
    };
    let template = |version: &str| PromptTemplate {
        version: Some(version.to_owned()),
        sha256: None,
    };
    let versions = record.entries("prompt_versions");
    PromptVersions {
        templates: versions
            .filter_map(|(key, version)| Some((stem(key)?, template(version.as_text()?))))
            .collect(),
        ..PromptVersions::default()
    }
}
