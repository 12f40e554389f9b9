//! The record of a consultation, which is also its `--format json` output: a pure projection of the
//! transcript. Its published schema is `schemas/consultation.schema.json`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::consultation::event::{CallFinished, EarlyTerminationDecision, StateName};
use crate::consultation::prompt::PromptUsed;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::transcript::Transcript;
use crate::domain::artifact::{Artifact, SCHEMA_VERSION, Source};
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::Cost;
use crate::domain::tokens::Usage;

use super::debate_value::debate_value;
use super::judge_passes::judge_passes;
use super::spending::{money, spending, tokens};

/// Projects a transcript to its record.
pub fn record(transcript: &Transcript) -> Value {
    let parts = [
        terms(transcript),
        findings(transcript),
        judge_passes(transcript),
        early_termination(transcript),
        account(transcript),
    ];
    Value::Object(
        parts
            .into_iter()
            .filter_map(|part| {
                if let Value::Object(part) = part {
                    Some(part)
                } else {
                    None
                }
            })
            .flatten()
            .collect(),
    )
}

/// The question, the panel, and the rounds that were completed.
fn terms(transcript: &Transcript) -> Value {
    let terms = &transcript.terms;
    json!({
        "@context": { "@vocab": "https://schema.org/" },
        "@type": "Report",
        "schema_version": SCHEMA_VERSION,
        "consultation_id": transcript.id,
        "timestamp": transcript.started_at,
        "question": terms.question,
        "context": null,
        "mode": terms.mode,
        "status": transcript.status(),
        "state": transcript.state,
        "degradations": transcript.degradations(),
        "agents": terms.panel.seats.iter().map(|seat| json!({
            "id": seat.id,
            "name": seat.name(),
            "persona": seat.persona.id,
            "provider": seat.model.provider,
            "model": seat.model.model,
        })).collect::<Vec<_>>(),
        "panel": panel(transcript),
        "casting": transcript.persona_selection.as_ref().map(|selection| json!({
            "task_type": selection.task_type,
            "reason": selection.reason,
            "chosen_by": selection.chosen_by,
            "notes": selection.notes,
        })),
        "judge": transcript.judge().map(model),
        "substitutions": transcript.substitutions.iter().map(|substitution| json!({
            "agent": name(transcript, &substitution.agent_id),
            "agent_id": substitution.agent_id,
            "round_number": substitution.round_number,
            "original": substitution.original,
            "substitute": substitution.substitute,
            "reason": substitution.reason,
            "message": substitution.message,
        })).collect::<Vec<_>>(),
        "hedges": transcript.hedges.iter().map(|hedge| json!({
            "agent": name(transcript, &hedge.agent_id),
            "agent_id": hedge.agent_id,
            "round_number": hedge.round_number,
            "model": hedge.model,
            "backup": hedge.backup,
            "after_ms": milliseconds(hedge.after),
            "dropped": hedge.dropped,
        })).collect::<Vec<_>>(),
        "served_otherwise": transcript.served_otherwise().into_iter()
            .map(|(asked, served)| json!({ "model": asked, "served": served }))
            .collect::<Vec<_>>(),
        "rounds": transcript.planned_rounds(),
        "completed_rounds": completed_rounds(transcript),
        "incomplete_rounds": transcript.incomplete_rounds(),
        "rounds_completed": transcript.completed_rounds().len(),
    })
}

/// Returns the completed rounds: their numbers, and for an unfinished consultation their artifacts
/// as well, so that other programs can continue from there.
fn completed_rounds(transcript: &Transcript) -> Value {
    let completed = transcript.completed_rounds();
    if transcript.state == StateName::Complete {
        return json!(completed);
    }
    let round = |number: &u8| {
        json!({
            "round_number": number,
            "artifacts": artifacts(transcript, *number),
        })
    };
    Value::Array(completed.iter().map(round).collect())
}

fn artifacts(transcript: &Transcript, round: u8) -> Vec<&Artifact> {
    transcript
        .artifacts
        .iter()
        .filter(|artifact| artifact.round_number == round)
        .collect()
}

/// The answer.
fn findings(transcript: &Transcript) -> Value {
    let verdict = transcript.verdict();
    let recommendation = verdict.map(|verdict| verdict.recommendation.as_str());
    let evidence = verdict
        .map(|verdict| verdict.evidence.as_slice())
        .unwrap_or_default();
    json!({
        "responses": responses(transcript),
        "consensus": recommendation,
        "confidence": transcript.confidence(),
        "recommendation": recommendation,
        "recommendations": verdict
            .map(|verdict| verdict.recommendations.as_slice())
            .unwrap_or_default(),
        "verdict_source": verdict.map(|verdict| match verdict.composed_from {
            None => "judge",
            Some(Source::Synthesis) => "synthesis",
            Some(Source::CrossExam) => "cross_examination",
        }),
        "summary": verdict.map(|verdict| verdict.summary.as_str()),
        "partial_consensus": if verdict.is_none() { transcript.partial_consensus() } else { None },
        "reasoning": transcript.independents()
            .map(|independent| (independent.agent_id.to_string(), json!(independent.rationale)))
            .collect::<Map<_, _>>(),
        "evidence": evidence.iter().map(|evidence| evidence.claim.as_str()).collect::<Vec<_>>(),
        "evidence_detail": evidence.iter().map(|evidence| json!({
            "claim": evidence.claim,
            "agent": transcript.agent_name(&evidence.agent),
            "quote": evidence.quote,
        })).collect::<Vec<_>>(),
        "concerns": transcript
            .concerns()
            .into_iter()
            .map(|concern| concern.text)
            .collect::<Vec<_>>(),
        "dissent": verdict.iter().flat_map(|verdict| &verdict.dissent).map(|dissent| json!({
            "agent": transcript.agent_name(&dissent.agent),
            "concern": dissent.concern,
            "severity": dissent.severity,
        })).collect::<Vec<_>>(),
        "perspectives": perspectives(transcript),
        "agreement": transcript.agreement(),
        "debate_value_analysis": debate_value(&transcript.debate_value()),
    })
}

/// The early termination, its reason, and how far the agreement of the experts can be trusted.
fn early_termination(transcript: &Transcript) -> Value {
    let decision = transcript.early_end.as_ref();
    let ended = decision.filter(|decision| decision.ended);
    let calibrated = transcript.calibrated();
    json!({
        "early_termination": ended.is_some(),
        "early_termination_reason": ended.map(|_| EarlyTerminationDecision::REASON),
        "rounds_skipped": ended.map_or(0, |ended| ended.findings.rounds_skipped),
        "estimated_cost_saved": ended.map(|ended| ended.findings.estimated_cost_saved.known.usd()),
        "actual_cost": transcript.total().cost.known.usd(),
        "early_termination_evaluation": decision.map(|decision| json!({
            "ended": decision.ended,
            "by": decision.by,
            "confidence": decision.findings.confidence,
            "threshold": decision.findings.threshold,
            "rounds_skipped": decision.findings.rounds_skipped,
            "estimated_cost_saved": money(decision.findings.estimated_cost_saved),
            "rules": decision.findings.evaluation.rules,
            "decision": decision.findings.evaluation.decision,
        })),
        "calibrated_confidence": calibrated.as_ref().map(|calibrated| calibrated.probability),
        "calibration": calibrated.map(|calibrated| calibrated.basis),
    })
}

/// The cost, the end, and the versions of everything used.
fn account(transcript: &Transcript) -> Value {
    let terms = &transcript.terms;
    json!({
        "cost": spending(transcript),
        "token_efficiency_stats": transcript.token_efficiency(),
        "estimated_cost": transcript.estimate.as_ref().map(|estimate| {
            let mut written = money(estimate.cost);
            if let Value::Object(written) = &mut written {
                written.insert("input_tokens".to_owned(), json!(estimate.input_tokens));
                written.insert("output_tokens".to_owned(), json!(estimate.output_tokens));
            }
            written
        }),
        "consent": transcript.consent.map(|(approved, how)| json!({
            "approved": approved,
            "how": how,
        })),
        "duration_ms": milliseconds(transcript.duration),
        "abort_reason": transcript.abort.as_ref().map(|abort| abort.reason),
        "abort_message": transcript.abort.as_ref().map(|abort| abort.message.as_str()),
        "aborted_during": transcript.abort.as_ref().map(|abort| abort.during),
        "resume_token": transcript.is_resumable().then_some(&transcript.id),
        "prompt_versions": prompt_versions(&terms.mode, &terms.prompts),
        "seed": terms.seed,
        "expert_order": terms.expert_order,
        "tool_version": terms.tool_version,
    })
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn model(model: &ModelRef) -> Value {
    json!({ "provider": model.provider, "model": model.model })
}

fn panel(transcript: &Transcript) -> Value {
    let panel = &transcript.terms.panel;
    json!({
        "seats": panel.seats.iter().map(|seat| json!({
            "seat": seat.id,
            "persona": seat.persona.id,
            "provider": seat.model.provider,
            "model": seat.model.model,
        })).collect::<Vec<_>>(),
        "judges": panel.judges.iter().map(model).collect::<Vec<_>>(),
        "one_family": panel.is_one_family(),
        "notices": transcript.terms.notices,
    })
}

/// Each expert's position, in the panel's order; those without an answer are in `responses` with
/// their error.
fn perspectives(transcript: &Transcript) -> Vec<Value> {
    let seats = transcript.terms.panel.seats.iter();
    seats
        .filter_map(|seat| {
            transcript
                .independents()
                .find(|independent| independent.agent_id == seat.id)
                .map(|held| (seat, held))
        })
        .map(|(seat, held)| {
            let revision = transcript
                .revisions()
                .find(|revision| revision.agent_id == seat.id);
            json!({
                "agent": seat.name(),
                "agent_id": seat.id,
                "model": transcript.player(seat).model,
                "opinion": held.position,
                "confidence": held.confidence,
                "revised_opinion": revision.map(|revision| revision.revised_position.as_str()),
                "revised_confidence": revision.and_then(|revision| revision.revised_confidence),
                "changed": revision.map(|revision| revision.changed),
            })
        })
        .collect()
}

/// Each round by number: its artifacts, and the calls of each agent.
fn responses(transcript: &Transcript) -> Value {
    let in_artifacts = transcript
        .artifacts
        .iter()
        .map(|artifact| artifact.round_number);
    let in_calls = transcript.calls.iter().map(|call| call.round_number);
    let in_failures = transcript
        .failures
        .iter()
        .map(|failure| failure.round_number);
    let numbers: std::collections::BTreeSet<u8> =
        in_artifacts.chain(in_calls).chain(in_failures).collect();
    let rounds = numbers.into_iter().map(|number| {
        let ended = transcript.rounds.iter().find(|(ended, _)| *ended == number);
        let round = json!({
            "complete": ended.is_some(),
            "duration_ms": ended.map(|(_, duration)| milliseconds(*duration)),
            "artifacts": artifacts(transcript, number),
            "agents": agents(transcript, number),
        });
        (format!("round_{number}"), round)
    });
    Value::Object(rounds.collect::<Map<_, _>>())
}

/// The calls of each agent in one round, grouped by the kind of answer: in Round 3, the judge and
/// the experts give different ones.
fn agents(transcript: &Transcript, round: u8) -> Vec<Value> {
    let mut calls_by_agent: BTreeMap<(AnswerKind, &AgentId), Vec<&CallFinished>> = BTreeMap::new();
    for call in transcript
        .calls
        .iter()
        .filter(|call| call.round_number == round)
    {
        calls_by_agent
            .entry((call.answer, &call.agent_id))
            .or_default()
            .push(call);
    }
    let mut written: Vec<Value> = calls_by_agent
        .into_iter()
        .map(|((answer, agent), calls)| {
            let mut usage = Usage::default();
            let mut cost = Cost::FREE;
            for call in &calls {
                usage += call.tokens;
                cost += call.cost;
            }
            let last = calls.last();
            json!({
                "agent_id": agent,
                "agent": name(transcript, agent),
                "answer": answer,
                "model": last.map(|call| &call.model),
                "served_model": last.and_then(|call| call.served_model.as_ref()),
                "tokens": tokens(&usage),
                "cost": money(cost),
                "latency_ms": last.and_then(|call| call.first_token_ms),
                "duration_ms": calls.iter().map(|call| call.duration_ms).sum::<u64>(),
                "attempts": calls.iter().map(|call| attempt(call)).collect::<Vec<_>>(),
                "problems": calls.iter().flat_map(|call| &call.problems).collect::<Vec<_>>(),
                "error": failure(transcript, round, agent),
            })
        })
        .collect();
    let called = |agent: &AgentId| {
        transcript
            .calls
            .iter()
            .any(|call| call.round_number == round && &call.agent_id == agent)
    };
    // An agent can fail without a finished call: its call was lost, or its prompt was not built.
    let uncalled = transcript
        .failures
        .iter()
        .filter(|failed| failed.round_number == round && !called(&failed.agent_id));
    written.extend(uncalled.map(|failed| {
        json!({
            "agent_id": failed.agent_id,
            "agent": failed.name,
            "attempts": [],
            "problems": [],
            "error": failed.error,
        })
    }));
    written
}

fn attempt(call: &CallFinished) -> Value {
    json!({
        "call": call.call,
        "purpose": call.purpose,
        "model": call.model,
        "served_model": call.served_model,
        "stop": call.stop,
        "error": call.error,
        "tokens": tokens(&call.tokens),
        "cost": money(call.cost),
        "cost_source": call.cost_source,
        "latency_ms": call.first_token_ms,
        "duration_ms": call.duration_ms,
    })
}

fn name<'a>(transcript: &'a Transcript, agent: &'a AgentId) -> &'a str {
    match agent {
        judge if *judge == AgentId::Judge => "Judge",
        judge if *judge == AgentId::SecondJudge => "Judge (second pass)",
        helper if *helper == AgentId::Helper => "Helper",
        expert => transcript.agent_name(expert.as_str()),
    }
}

fn failure(transcript: &Transcript, round: u8, agent: &AgentId) -> Value {
    let failed = transcript
        .failures
        .iter()
        .find(|failed| failed.round_number == round && &failed.agent_id == agent);
    json!(failed.map(|failed| &failed.error))
}

/// Versions under both names that the keys have had, and the hash of each template used.
fn prompt_versions(mode: &str, prompts: &[PromptUsed]) -> Value {
    let mut versions = Map::from_iter([("mode".to_owned(), json!(mode))]);
    let mut hashes = Map::new();
    for prompt in prompts {
        if let Some((folder, kind)) = prompt.name.rsplit_once('/')
            && folder == mode
        {
            versions.insert(format!("{mode}_{kind}_v"), json!(prompt.version));
            versions.insert(format!("{kind}_prompt_version"), json!(prompt.version));
        }
        hashes.insert(
            prompt.name.clone(),
            json!({ "version": prompt.version, "sha256": prompt.sha256 }),
        );
    }
    versions.insert("templates".to_owned(), Value::Object(hashes));
    Value::Object(versions)
}
