//! What the agents of a made-up consultation answer. `say` may make of each text what it likes.

use conclave::domain::artifact::{
    Because, Challenge, Choice, ConsensusPoint, CrossExam, Dissent, Evidence, Rebuttal, Revision,
    Severity, Synthesis, Tension, Verdict, Viewpoint,
};
use conclave::domain::confidence::Confidence;
use conclave::domain::ids::SeatId;

pub(super) fn synthesis(say: &impl Fn(&str) -> String) -> Synthesis {
    Synthesis {
        consensus_points: vec![ConsensusPoint {
            point: say("OAuth 2.0 for delegation, JWT as the token format"),
            supporting_agents: vec!["security".to_owned(), "architecture".to_owned()],
            confidence: Confidence::new(0.9),
        }],
        tensions: vec![Tension {
            topic: say("Token lifetime"),
            viewpoints: vec![Viewpoint {
                agent: "security".to_owned(),
                viewpoint: say("minutes"),
            }],
            severity: Severity::Medium,
        }],
        priority_order: vec!["delegation".to_owned()],
        prose_excerpt: String::new(),
    }
}

pub(super) fn revision(agent: &str, say: &impl Fn(&str) -> String) -> Revision {
    let changed = agent == "architecture";
    Revision {
        agent_id: SeatId::new(agent),
        challenges: vec![],
        rebuttals: vec![],
        revised_position: say("OAuth 2.0 with short-lived JWT access tokens"),
        revised_confidence: Confidence::new(0.85),
        changed,
        because_of: if changed {
            vec![Because {
                agent: "security".to_owned(),
                argument: say("a leaked long-lived token cannot be called back"),
            }]
        } else {
            vec![]
        },
    }
}

pub(super) fn cross_exam(say: &impl Fn(&str) -> String) -> CrossExam {
    CrossExam {
        challenges: vec![
            Challenge {
                challenger: "pragmatic".to_owned(),
                target_agent: "architecture".to_owned(),
                challenge: say("An authorization server is one more thing to run"),
                evidence: vec![],
                severity: Severity::Low,
            },
            Challenge {
                challenger: "security".to_owned(),
                target_agent: "architecture".to_owned(),
                challenge: say("Token refresh complexity is underestimated"),
                evidence: vec![],
                severity: Severity::High,
            },
        ],
        rebuttals: vec![Rebuttal {
            agent: "architecture".to_owned(),
            rebuttal: say("Libraries do it"),
        }],
        unresolved: vec![say("Who runs the authorization server")],
        positions: vec![],
        prose_excerpt: String::new(),
    }
}

pub(super) fn verdict(say: &impl Fn(&str) -> String) -> Verdict {
    Verdict {
        recommendations: vec![],
        composed_from: None,
        recommendation: say("Use OAuth 2.0 with JWT access tokens."),
        confidence: Confidence::new(0.85),
        evidence: vec![Evidence {
            claim: say("Delegation is what OAuth is for"),
            agent: "architecture".to_owned(),
            quote: say("OAuth delegates, JWT carries"),
        }],
        dissent: vec![Dissent {
            agent: "pragmatic".to_owned(),
            concern: say("Sessions would do for a single application"),
            severity: Severity::Medium,
        }],
        summary: say("The panel agrees on OAuth 2.0; how long a token lives stays open."),
    }
}

/// Two options, of which the second says as little as can be read.
pub(super) fn menu(say: &impl Fn(&str) -> String) -> Verdict {
    let option = |option: &str, confidence| Choice {
        option: say(option),
        description: say("Let the provider issue short-lived tokens.\nKeep sessions for the rest."),
        pros: vec![say("A leak is short"), say("Clients are many")],
        cons: vec![say("One more thing to run")],
        best_when: say("partners call the interface"),
        confidence: Confidence::new(confidence),
    };
    let bare = Choice {
        description: String::new(),
        pros: vec![],
        cons: vec![],
        best_when: String::new(),
        confidence: None,
        ..option("Sessions first", 0.0)
    };
    Verdict {
        recommendation: say("Ask first whether partners will call the interface."),
        confidence: None,
        recommendations: vec![option("OAuth with JWT", 0.8), bare],
        ..verdict(say)
    }
}

pub(super) fn position(agent: &str) -> String {
    match agent {
        "security" => "Use OAuth 2.0; keep tokens short-lived.".to_owned(),
        "architecture" => "OAuth 2.0 delegates, JWT carries: use both.".to_owned(),
        _ => "Start with sessions and move when a second client appears.".to_owned(),
    }
}
