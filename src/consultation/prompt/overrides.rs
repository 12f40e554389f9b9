//! Users' own templates. Each is filled with a sample consultation when it is loaded, so that
//! errors show before any round has been paid for.

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::plan::mode::Mode;
use crate::consultation::plan::prior_consultation::{PriorConsultation, PriorPosition};
use crate::consultation::protocol::call::Prompt;
use crate::consultation::reading::problem::{Problem, ProblemSeverity};
use crate::domain::artifact::{
    Because, Challenge, ConsensusPoint, CrossExam, Independent, Rebuttal, Revision, Severity,
    Synthesis, Tension, Viewpoint,
};
use crate::domain::confidence::Confidence;
use crate::domain::context::{Context, ContextText, ProjectStance};
use crate::domain::ids::{ConsultationId, ModelRef};
use crate::domain::panel::Seat;

use super::error::PromptError;
use super::question_templates;
use super::templates::{PERSONAS, Templates};
use super::{Pair, PromptContext, Prompter, RenderedContexts, Size};

const QUESTION: &str = "Is this the question?";

const PRIOR_QUESTION: &str = "Was this the earlier question?";

impl Templates {
    /// Replaces a template with the user's text, or adds a persona. Refuses a template that cannot
    /// be filled or that leaves out the question.
    pub fn override_with(&mut self, name: &str, text: &str) -> Result<(), PromptError> {
        let is_persona = name.starts_with(PERSONAS);
        if !self.contains(name) && !is_persona {
            return Err(PromptError::Unknown(name.to_owned()));
        }
        let candidate = self.with(name, text);
        candidate.check(name)?;
        if !is_persona {
            fill_all(&candidate)?;
            question_templates::check(&candidate)?;
        }
        *self = candidate;
        Ok(())
    }
}

/// Fills every prompt of every mode in both sizes, and checks that it contains the question.
fn fill_all(templates: &Templates) -> Result<(), PromptError> {
    let seats = [seat("one"), seat("two")];
    let labels = Labels::draw(&seats, 1);
    let [first, second] = &seats;
    let answers = [answer(first), answer(second)];
    let [own, _] = &answers;
    let revisions = [revision(first), revision(second)];
    let (synthesis, cross_exam) = (synthesis(first), cross_exam(&revisions));
    let personas = seats.clone().map(|seat| seat.persona);
    let pairs = [Pair {
        label: "Pair 1".to_owned(),
        before: "a position".to_owned(),
        after: "a position".to_owned(),
    }];
    let sizes = [Size::Full, Size::Small];
    let prior = prior(&labels, first);
    let variants = Mode::ALL
        .into_iter()
        .flat_map(|mode| sizes.map(|size| (mode, size)))
        .flat_map(|(mode, size)| [None, Some(&prior)].map(|prior| (mode, size, prior)));
    let contexts = contexts();
    for (mode, size, prior) in variants {
        let prompter = Prompter {
            templates,
            labels: &labels,
            question: QUESTION,
            prior,
            context: None,
            size,
            mode,
        };
        for context in &contexts {
            let context = Some(PromptContext {
                context,
                rendered: &RenderedContexts::default(),
            });
            Prompter {
                context,
                ..prompter
            }
            .independent(first)?;
        }
        let independent = prompter.independent(first)?;
        let problem = Problem::new(ProblemSeverity::Error, "position", "is missing");
        let prompts = [
            prompter.repair(&independent, "text", &[problem])?,
            prompter.repair(&independent, "", &[Problem::cut_off()])?,
            independent,
            prompter.synthesis(&answers)?,
            prompter.synthesis(std::slice::from_ref(own))?,
            prompter.revision(first, own, &synthesis)?,
            prompter.cross_exam(&revisions, &synthesis)?,
            prompter.verdict(&answers, &synthesis, &cross_exam)?,
            prompter.persona_selection(&personas, personas.len())?,
            prompter.comparison(&pairs)?,
        ];
        if !prompts
            .iter()
            .all(|prompt| prompt.shared.contains(QUESTION))
        {
            return Err(PromptError::Lacks {
                name: prompter.shared_template().to_owned(),
                what: "the question: `{{ question }}`",
            });
        }
        let quotes = |prompt: &Prompt| prompt.shared.contains(PRIOR_QUESTION);
        if prior.is_some() && !prompts.iter().all(quotes) {
            return Err(PromptError::Lacks {
                name: prompter.shared_template().to_owned(),
                what: "the earlier consultation: `{{ prior.text }}`",
            });
        }
    }
    Ok(())
}

/// Returns contexts with and without text, for each stance.
fn contexts() -> Vec<Context> {
    let stances = [
        None,
        Some(ProjectStance::Brownfield),
        Some(ProjectStance::Greenfield),
    ];
    let context = |stance, text: &str| Context {
        stance,
        stack: vec!["Framework: none".to_owned()],
        text: ContextText::from(text.to_owned()),
        ..Context::default()
    };
    stances
        .into_iter()
        .flat_map(|stance| ["a text", ""].map(|text| context(stance, text)))
        .collect()
}

fn seat(id: &str) -> Seat {
    let mut seat = Seat::named(id, id, ModelRef::new("none", "none"));
    "You are an expert.".clone_into(&mut seat.persona.prompt);
    seat
}

fn prior(labels: &Labels, seat: &Seat) -> PriorConsultation {
    PriorConsultation {
        id: ConsultationId::from_unique("earlier"),
        question: PRIOR_QUESTION.to_owned(),
        labels: labels.clone(),
        positions: vec![PriorPosition {
            agent_id: seat.id.clone(),
            position: "a position".to_owned(),
            confidence: Confidence::new(0.7),
        }],
        verdict: None,
    }
}

fn answer(seat: &Seat) -> Independent {
    Independent {
        agent_id: seat.id.clone(),
        position: "a position".to_owned(),
        key_points: vec!["a point".to_owned()],
        rationale: "a rationale".to_owned(),
        confidence: Confidence::new(0.7),
        prose_excerpt: String::new(),
        findings: None,
    }
}

fn synthesis(seat: &Seat) -> Synthesis {
    let agent = seat.id.as_str().to_owned();
    Synthesis {
        consensus_points: vec![ConsensusPoint {
            point: "a point".to_owned(),
            supporting_agents: vec![agent.clone()],
            confidence: Confidence::new(0.7),
        }],
        tensions: vec![Tension {
            topic: "a topic".to_owned(),
            viewpoints: vec![Viewpoint {
                agent,
                viewpoint: "a view".to_owned(),
            }],
            severity: Severity::High,
        }],
        priority_order: vec!["a topic".to_owned()],
        prose_excerpt: String::new(),
        findings: None,
    }
}

fn revision(seat: &Seat) -> Revision {
    let agent = seat.id.as_str().to_owned();
    Revision {
        agent_id: seat.id.clone(),
        challenges: vec![Challenge {
            challenger: agent.clone(),
            target_agent: agent.clone(),
            challenge: "a challenge".to_owned(),
            evidence: vec!["a fact".to_owned()],
            severity: Severity::High,
        }],
        rebuttals: vec![Rebuttal {
            agent: agent.clone(),
            rebuttal: "a rebuttal".to_owned(),
        }],
        revised_position: "a position".to_owned(),
        revised_confidence: Confidence::new(0.7),
        changed: Some(true),
        because_of: vec![Because {
            agent,
            argument: "an argument".to_owned(),
        }],
    }
}

fn cross_exam(revisions: &[Revision]) -> CrossExam {
    CrossExam {
        challenges: revisions
            .iter()
            .flat_map(|said| said.challenges.clone())
            .collect(),
        rebuttals: revisions
            .iter()
            .flat_map(|said| said.rebuttals.clone())
            .collect(),
        unresolved: vec!["an open point".to_owned()],
        positions: revisions.to_vec(),
        prose_excerpt: String::new(),
    }
}
