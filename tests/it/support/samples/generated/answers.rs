//! The content of the agents' answers.

use conclave::consultation::protocol::answer::AnswerKind;
use conclave::domain::answer::artifact::{
    Because, Challenge, ConsensusPoint, Content, CrossExam, Dissent, Evidence, Independent,
    ProvisionalAnswer, Rebuttal, Revision, Severity, Synthesis, Tension, Verdict, Viewpoint,
};
use conclave::domain::answer::confidence::Confidence;
use conclave::domain::ids::{AgentId, SeatId};
use fastrand::Rng;

use super::Length;
use super::scenario::Generator;
use super::text;

impl Generator {
    /// Returns a text of at most this many words, or a third of it in short records.
    fn text(&mut self, max_words: usize) -> String {
        let max_words = match self.length {
            Length::Short => max_words / 3,
            Length::Usual => max_words,
        };
        let max_words = max_words.max(2);
        let count = self.rng.usize(max_words / 2..=max_words);
        text::text(&mut self.rng, count)
    }

    /// Returns a confidence in hundredths or with all digits; one in ten is missing.
    fn confidence(&mut self) -> Option<Confidence> {
        match self.rng.u8(..10) {
            0 => None,
            1 => Confidence::new(self.rng.f64()),
            _ => Confidence::new(f64::from(self.rng.u8(45..=100)) / 100.0),
        }
    }

    /// Picks some of the agents.
    fn some_of(&mut self, agents: &[SeatId]) -> Vec<String> {
        agents
            .iter()
            .filter(|_| self.rng.u8(..3) > 0)
            .map(ToString::to_string)
            .collect()
    }

    /// Returns the content of an answer.
    pub(super) fn content(&mut self, agent: &AgentId, answer: AnswerKind) -> Content {
        let answering = self.answering();
        let any_agent = |rng: &mut Rng| {
            answering
                .get(rng.usize(..answering.len().max(1)))
                .map_or("unknown".to_owned(), ToString::to_string)
        };
        match answer {
            AnswerKind::Independent => Content::Independent(Independent {
                agent_id: seat(agent),
                position: self.text(40),
                key_points: (0..3).map(|_| self.text(14)).collect(),
                rationale: self.text(90),
                confidence: self.confidence(),
                prose_excerpt: String::new(),
                findings: None,
            }),
            AnswerKind::Synthesis => Content::Synthesis(Synthesis {
                consensus_points: (0..self.rng.u8(..4))
                    .map(|_| ConsensusPoint {
                        point: self.text(20),
                        supporting_agents: self.some_of(&answering),
                        confidence: self.confidence(),
                    })
                    .collect(),
                tensions: vec![Tension {
                    topic: self.text(8),
                    viewpoints: answering
                        .iter()
                        .map(|agent| Viewpoint {
                            agent: agent.to_string(),
                            viewpoint: self.text(16),
                        })
                        .collect(),
                    severity: Severity::Medium,
                }],
                priority_order: vec![self.text(6), self.text(6)],
                provisional_answer: Some(Box::new(ProvisionalAnswer {
                    answer: self.text(30),
                    confidence: self.confidence(),
                    would_change_it: self.text(12),
                })),
                prose_excerpt: String::new(),
                findings: None,
            }),
            AnswerKind::Revision => Content::Revision(Revision {
                agent_id: seat(agent),
                challenges: vec![],
                rebuttals: vec![Rebuttal {
                    agent: any_agent(&mut self.rng),
                    rebuttal: self.text(25),
                }],
                revised_position: self.text(40),
                revised_confidence: self.confidence(),
                changed: Some(self.rng.u8(..3) == 0),
                because_of: vec![Because {
                    agent: any_agent(&mut self.rng),
                    argument: self.text(20),
                }],
            }),
            AnswerKind::CrossExam => Content::CrossExam(CrossExam {
                challenges: (0..self.rng.u8(..4))
                    .map(|_| Challenge {
                        challenger: any_agent(&mut self.rng),
                        target_agent: any_agent(&mut self.rng),
                        challenge: self.text(20),
                        evidence: vec![self.text(10)],
                        severity: [Severity::Low, Severity::Medium, Severity::High]
                            [self.rng.usize(..3)],
                    })
                    .collect(),
                rebuttals: vec![],
                unresolved: vec![self.text(12)],
                positions: vec![],
                provisional_answer: Some(Box::new(ProvisionalAnswer {
                    answer: self.text(30),
                    confidence: self.confidence(),
                    would_change_it: self.text(12),
                })),
                prose_excerpt: String::new(),
            }),
            AnswerKind::PersonaSelection | AnswerKind::Comparison | AnswerKind::Consistency => {
                unreachable!("the scenarios have no helper model")
            }
            AnswerKind::Verdict | AnswerKind::Menu => Content::Verdict(Verdict {
                recommendations: vec![],
                recommendation: self.text(45),
                confidence: self.confidence(),
                evidence: vec![Evidence {
                    claim: self.text(15),
                    agent: any_agent(&mut self.rng),
                    quote: self.text(15),
                }],
                dissent: (0..self.rng.u8(..8).saturating_sub(5))
                    .map(|_| Dissent {
                        agent: any_agent(&mut self.rng),
                        concern: self.text(20),
                        severity: Severity::Medium,
                    })
                    .collect(),
                summary: self.text(50),
                findings: None,
            }),
        }
    }
}

/// The seat of an expert.
fn seat(agent: &AgentId) -> SeatId {
    agent.seat().unwrap().clone()
}
