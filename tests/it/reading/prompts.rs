//! The prompts as models get them.

use conclave::consultation::labels::Labels;
use conclave::consultation::prompt::{Prompter, Size, Templates};
use conclave::domain::artifact::{
    Because, Challenge, ConsensusPoint, CrossExam, Independent, Rebuttal, Revision, Severity, Synthesis, Tension, Viewpoint,
};
use conclave::domain::confidence::Confidence;
use conclave::domain::ids::{ModelRef, SeatId};
use conclave::domain::panel::Seat;

pub(super) const QUESTION: &str = "Should we move the billing service from PostgreSQL to DynamoDB?";

pub(super) fn seats() -> Vec<Seat> {
    let templates = Templates::builtin();
    let seat = |id: &str, provider: &str, model: &str| Seat {
        id: SeatId::new(id),
        persona: templates.persona(id).unwrap(),
        model: ModelRef::new(provider, model),
    };
    vec![
        seat("security", "anthropic", "claude-opus-9"),
        seat("architecture", "openai", "gpt-12-sol"),
        seat("pragmatic", "google", "gemini-7-pro"),
    ]
}

fn answer(id: &str, position: &str) -> Independent {
    Independent {
        agent_id: SeatId::new(id),
        position: position.into(),
        key_points: vec!["one point".into(), "another\npoint".into()],
        rationale: "because of this".into(),
        confidence: Confidence::new(0.7),
        prose_excerpt: String::new(),
    }
}

fn found() -> Synthesis {
    Synthesis {
        consensus_points: vec![ConsensusPoint {
            point: "keep PostgreSQL".into(),
            supporting_agents: vec!["security".into(), "pragmatic".into()],
            confidence: Confidence::new(0.8),
        }],
        tensions: vec![Tension {
            topic: "scale".into(),
            viewpoints: vec![
                Viewpoint { agent: "architecture".into(), viewpoint: "it will not hold".into() },
                Viewpoint { agent: "a stranger".into(), viewpoint: "who knows".into() },
            ],
            severity: Severity::High,
        }],
        priority_order: vec!["cost".into()],
        prose_excerpt: String::new(),
    }
}

fn said(id: &str) -> Revision {
    Revision {
        agent_id: SeatId::new(id),
        challenges: vec![Challenge {
            challenger: id.into(),
            target_agent: "consensus".into(),
            challenge: "No, because of load".into(),
            evidence: vec!["a measurement".into()],
            severity: Severity::High,
        }],
        rebuttals: vec![Rebuttal { agent: "architecture".into(), rebuttal: "it holds".into() }],
        revised_position: "still the same".into(),
        revised_confidence: None,
        changed: true,
        because_of: vec![Because { agent: "security".into(), argument: "keys".into() }],
    }
}

#[test]
fn show() {
    let templates = Templates::builtin();
    let seats = seats();
    let labels = Labels::draw(&seats, 3);
    for size in [Size::Full, Size::Small] {
        let prompter = Prompter { templates: &templates, labels: &labels, question: QUESTION, size };
        let answers = [answer("security", "Stay."), answer("architecture", "Move."), answer("pragmatic", "Wait.")];
        let merged = CrossExam {
            challenges: said("security").challenges,
            rebuttals: said("security").rebuttals,
            unresolved: vec!["load".into()],
            positions: vec![said("pragmatic")],
            prose_excerpt: String::new(),
        };
        for prompt in [
            prompter.independent(&seats[0]),
            prompter.synthesis(&answers),
            prompter.revision(&seats[1], &answers[1], &found()),
            prompter.cross_exam(&[said("security"), said("pragmatic")], &found()),
            prompter.verdict(&answers, &found(), &merged),
        ] {
            println!("=========\n{}\n", prompt.unwrap().text());
        }
    }
}

#[test]
fn a_template_that_cannot_be_compiled_is_refused_at_once_also_when_no_prompt_of_this_run_needs_it() {
    let mut templates = Templates::builtin();
    let refused =
        templates.override_with("converge/small/verdict", "---\nversion: mine\n---\nDecide.\n=== task ===\n{% if %}\n").unwrap_err();
    assert_eq!(refused.to_string(), "prompt template `converge/small/verdict: task` cannot be filled: line 1");
    assert_eq!(templates, Templates::builtin());
}
