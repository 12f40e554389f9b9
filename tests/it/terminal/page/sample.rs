//! A consultation with every kind of content, whose texts a test chooses.

use std::collections::BTreeMap;

use conclave::domain::artifact::{
    Artifact, Because, Challenge, ConsensusPoint, Content, CrossExam, Dissent, Evidence,
    Independent, MenuOption, Rebuttal, Revision, Severity, Synthesis, Tension, Verdict, Viewpoint,
};
use conclave::domain::confidence::Confidence;
use conclave::domain::ids::SeatId;
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::stored_record::{
    Amount, StoredAgent, StoredModel, StoredRecord, StoredRound,
};
use conclave::domain::time::Timestamp;
use conclave::text::clean::clean;
use serde_json::json;

/// Returns a consultation with every kind of content, in which `say` returns the text for each
/// number.
pub(super) fn consultation(say: &dyn Fn(usize) -> String) -> StoredRecord {
    let mut at = 0;
    let mut next = || {
        at += 1;
        say(at)
    };
    let stated = Confidence::new(0.5);
    let mut challenge = |severity| Challenge {
        challenger: next(),
        target_agent: next(),
        challenge: next(),
        evidence: vec![next(), next()],
        severity,
    };
    let challenges = vec![challenge(Severity::High), challenge(Severity::Low)];
    let seat = SeatId::new("seat");
    let independents = vec![
        Independent {
            agent_id: seat.clone(),
            position: next(),
            key_points: vec![next(), next()],
            rationale: next(),
            confidence: stated,
            prose_excerpt: next(),
            findings: None,
        },
        Independent {
            agent_id: SeatId::new(next()),
            position: next(),
            ..Independent::default()
        },
    ];
    let synthesis = Synthesis {
        consensus_points: vec![ConsensusPoint {
            point: next(),
            supporting_agents: vec![next(), next()],
            confidence: stated,
        }],
        tensions: vec![Tension {
            topic: next(),
            viewpoints: vec![Viewpoint {
                agent: next(),
                viewpoint: next(),
            }],
            severity: Severity::Medium,
        }],
        priority_order: vec![next()],
        prose_excerpt: next(),
        findings: None,
    };
    let revision = Revision {
        revised_position: next(),
        revised_confidence: stated,
        changed: Some(true),
        because_of: vec![Because {
            agent: next(),
            argument: next(),
        }],
        ..Revision::unanswered(&seat)
    };
    let cross_exam = CrossExam {
        challenges,
        rebuttals: vec![Rebuttal {
            agent: next(),
            rebuttal: next(),
        }],
        unresolved: vec![next()],
        positions: vec![],
        prose_excerpt: next(),
    };
    let verdict = Verdict {
        recommendations: vec![MenuOption {
            option: next(),
            description: next(),
            pros: vec![next(), next()],
            cons: vec![next()],
            best_when: next(),
            confidence: stated,
        }],
        composed_from: None,
        recommendation: String::new(),
        confidence: None,
        evidence: vec![Evidence {
            claim: next(),
            agent: next(),
            quote: next(),
        }],
        dissent: vec![Dissent {
            agent: next(),
            concern: next(),
            severity: Severity::High,
        }],
        summary: String::new(),
        findings: None,
    };
    let contents = independents.into_iter().map(Content::Independent).chain([
        Content::Synthesis(synthesis),
        Content::Revision(revision),
        Content::CrossExam(cross_exam),
        Content::Verdict(verdict),
    ]);
    let failed = json!({
        "agent_id": "failed",
        "agent": next(),
        "served_model": next(),
        "tokens": { "total": 12_453 },
        "cost": Amount::from(Cost::at_least(MicroUsd(1))),
        "attempts": [{}],
        "error": { "message": next() },
    });
    let first = StoredRound {
        complete: false,
        artifacts: contents
            .map(|content| Artifact::stamp(content, Timestamp(0), false))
            .collect(),
        agents: vec![serde_json::from_value(failed).unwrap()],
        ..StoredRound::default()
    };
    let ninth = StoredRound {
        complete: true,
        ..StoredRound::default()
    };
    let agent = |id: SeatId, name, model: Option<String>| StoredAgent {
        id,
        name,
        persona: None,
        provider: Some("acme".to_owned()),
        model,
        demonstration: false,
    };
    let cost = json!({
        "micro_usd": 5,
        "lower_bound": true,
        "tokens": { "total": 7 },
        "by_provider": { next(): { "micro_usd": 0 } },
    });
    let prompts = json!({ "templates": { next(): { "version": next() } } });
    StoredRecord {
        schema_version: Some(next()),
        id: next(),
        at: Some(Timestamp(1_795_252_598_042)),
        question: next(),
        mode: Some(next()),
        state: Some(next()),
        status: Some("degraded".to_owned()),
        degradations: vec![next(), next()],
        agents: vec![
            agent(seat, next(), Some(next())),
            agent(SeatId::new("failed"), next(), None),
        ],
        judge: Some(StoredModel {
            provider: "acme".to_owned(),
            model: next(),
        }),
        responses: BTreeMap::from([("round_1".to_owned(), first), ("round_9".to_owned(), ninth)]),
        recommendation: Some(next()),
        summary: Some(next()),
        confidence: stated,
        agreement: Some(1.0 / 3.0),
        concerns: vec![next()],
        cost: Some(serde_json::from_value(cost).unwrap()),
        early_termination: true,
        early_termination_reason: Some(next()),
        prompt_versions: serde_json::from_value(prompts).unwrap(),
        tool_version: Some(next()),
        ..StoredRecord::default()
    }
}

/// The same consultation after it was cut off.
pub(super) fn aborted(record: StoredRecord, say: &dyn Fn(usize) -> String) -> StoredRecord {
    StoredRecord {
        state: Some("Aborted".to_owned()),
        status: None,
        aborted_during: Some(say(900)),
        abort_message: Some(say(901)),
        recommendation: None,
        partial_consensus: Some(say(902)),
        ..record
    }
}

pub(super) fn name(at: usize) -> String {
    format!("«{at}»")
}

/// Replaces each name in the text by its shown content.
pub(super) fn filled(text: &str, say: &dyn Fn(usize) -> String) -> String {
    let mut parts = text.split('«');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |filled, part| {
        let (at, rest) = part.split_once('»').unwrap();
        filled + &clean(&say(at.parse().unwrap())) + rest
    })
}
