//! The answers of the agents in a sample consultation. `rewrite` may change every text.

use conclave::domain::answer::artifact::{
    Because, Challenge, ConsensusPoint, Content, CrossExam, Dissent, Evidence, Independent,
    MenuOption, ProvisionalAnswer, Rebuttal, Revision, Severity, Synthesis, Tension, Verdict,
    Viewpoint,
};
use conclave::domain::answer::confidence::Confidence;
use conclave::domain::ids::SeatId;

pub(super) fn synthesis(rewrite: &impl Fn(&str) -> String) -> Synthesis {
    Synthesis {
        consensus_points: vec![ConsensusPoint {
            point: rewrite("OAuth 2.0 for delegation, JWT as the token format"),
            supporting_agents: vec!["security".to_owned(), "architecture".to_owned()],
            confidence: Confidence::new(0.9),
        }],
        tensions: vec![Tension {
            topic: rewrite("Token lifetime"),
            viewpoints: vec![Viewpoint {
                agent: "security".to_owned(),
                viewpoint: rewrite("minutes"),
            }],
            severity: Severity::Medium,
        }],
        priority_order: vec!["delegation".to_owned()],
        provisional_answer: Some(Box::new(ProvisionalAnswer {
            answer: rewrite("Delegate access with tokens, for now."),
            confidence: Confidence::new(0.7),
            would_change_it: rewrite("A second client next year"),
        })),
        prose_excerpt: String::new(),
        findings: None,
    }
}

pub(super) fn revision(agent: &str, rewrite: &impl Fn(&str) -> String) -> Revision {
    let changed = agent == "architecture";
    Revision {
        agent_id: SeatId::new(agent),
        challenges: vec![],
        rebuttals: vec![],
        revised_position: rewrite("OAuth 2.0 with short-lived JWT access tokens"),
        revised_confidence: Confidence::new(0.85),
        changed: Some(changed),
        because_of: if changed {
            vec![Because {
                agent: "security".to_owned(),
                argument: rewrite("a leaked long-lived token cannot be called back"),
            }]
        } else {
            vec![]
        },
    }
}

pub(super) fn cross_exam(rewrite: &impl Fn(&str) -> String) -> CrossExam {
    CrossExam {
        challenges: vec![
            Challenge {
                challenger: "pragmatic".to_owned(),
                target_agent: "architecture".to_owned(),
                challenge: rewrite("An authorization server is one more thing to run"),
                evidence: vec![],
                severity: Severity::Low,
            },
            Challenge {
                challenger: "security".to_owned(),
                target_agent: "architecture".to_owned(),
                challenge: rewrite("Token refresh complexity is underestimated"),
                evidence: vec![],
                severity: Severity::High,
            },
        ],
        rebuttals: vec![Rebuttal {
            agent: "architecture".to_owned(),
            rebuttal: rewrite("Libraries do it"),
        }],
        unresolved: vec![rewrite("Who runs the authorization server")],
        positions: vec![],
        provisional_answer: Some(Box::new(ProvisionalAnswer {
            answer: rewrite("Delegate access with short tokens."),
            confidence: Confidence::new(0.8),
            would_change_it: rewrite("No one to run the server"),
        })),
        prose_excerpt: String::new(),
    }
}

pub(super) fn verdict(rewrite: &impl Fn(&str) -> String) -> Verdict {
    Verdict {
        recommendations: vec![],
        recommendation: rewrite("Use OAuth 2.0 with JWT access tokens."),
        confidence: Confidence::new(0.85),
        evidence: vec![Evidence {
            claim: rewrite("Delegation is what OAuth is for"),
            agent: "architecture".to_owned(),
            quote: rewrite("OAuth delegates, JWT carries"),
        }],
        dissent: vec![Dissent {
            agent: "pragmatic".to_owned(),
            concern: rewrite("Sessions would do for a single application"),
            severity: Severity::Medium,
        }],
        summary: rewrite("The panel agrees on OAuth 2.0; how long a token lives stays open."),
        findings: None,
    }
}

/// Returns two options, the second with only the required text.
pub(super) fn menu(rewrite: &impl Fn(&str) -> String) -> Verdict {
    let option = |option: &str, confidence| MenuOption {
        option: rewrite(option),
        description: rewrite(
            "Let the provider issue short-lived tokens.\nKeep sessions for the rest.",
        ),
        pros: vec![rewrite("A leak is short"), rewrite("Clients are many")],
        cons: vec![rewrite("One more thing to run")],
        best_when: rewrite("partners call the interface"),
        confidence: Confidence::new(confidence),
    };
    let bare = MenuOption {
        description: String::new(),
        pros: vec![],
        cons: vec![],
        best_when: String::new(),
        confidence: None,
        ..option("Sessions first", 0.0)
    };
    Verdict {
        recommendation: rewrite("Ask first whether partners will call the interface."),
        confidence: None,
        recommendations: vec![option("OAuth with JWT", 0.8), bare],
        ..verdict(rewrite)
    }
}

pub(super) fn position(agent: &str) -> String {
    match agent {
        "security" => "Use OAuth 2.0; keep tokens short-lived.".to_owned(),
        "architecture" => "OAuth 2.0 delegates, JWT carries: use both.".to_owned(),
        _ => "Start with sessions and move when a second client appears.".to_owned(),
    }
}

pub(crate) fn independent(agent: &str, position: &str, confidence: Option<f64>) -> Content {
    Content::Independent(Independent {
        agent_id: SeatId::new(agent),
        position: position.to_owned(),
        key_points: vec![
            "Short-lived tokens limit the damage of a leak".to_owned(),
            "Revocation needs a plan".to_owned(),
        ],
        rationale: "Both standards solve different problems.".to_owned(),
        confidence: confidence.and_then(Confidence::new),
        prose_excerpt: String::new(),
        findings: None,
    })
}
