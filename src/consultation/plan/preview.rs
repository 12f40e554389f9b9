//! Previews the prompts of a whole consultation: those of Round 1 as they will be sent, later ones
//! with placeholders for answers.

use crate::domain::answer::artifact::{CrossExam, Independent, Revision, Synthesis};
use crate::domain::ids::{AgentId, ModelRef, SeatId};

use super::Plan;
use super::options::JudgePasses;
use crate::consultation::anonymity::labels::Labels;
use crate::consultation::prompt::{Pair, PromptError};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::Prompt;

/// The kind of placeholder for answers that do not exist yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// An empty text, for counting tokens.
    Empty,
    /// A description in angle brackets, for people.
    Marked,
}

impl Places {
    fn words(self, words: &str) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Marked => format!("<{words}>"),
        }
    }
}

/// A call of a consultation without failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCall {
    pub agent_id: AgentId,
    pub answer: AnswerKind,
    pub model: ModelRef,
    pub prompt: Prompt,
}

/// Calls of every round, in order.
pub fn planned_calls(plan: &Plan, places: Places) -> Result<Vec<PlannedCall>, PromptError> {
    let mut calls = Vec::new();
    for answer in AnswerKind::ALL {
        for (agent_id, model) in askers(plan, answer) {
            let labels = plan.labels_for(&agent_id);
            let answers = Answers::of(plan, &labels, places);
            let prompt = answers.prompt(plan, &labels, answer, &agent_id, &model)?;
            calls.push(PlannedCall {
                agent_id,
                answer,
                model,
                prompt,
            });
        }
    }
    Ok(calls)
}

fn askers(plan: &Plan, answer: AnswerKind) -> Vec<(AgentId, ModelRef)> {
    if !plan.debate.asks_for(answer) {
        return Vec::new();
    }
    let first = |agent: AgentId| {
        plan.models_for(&agent)
            .into_iter()
            .take(1)
            .map(|model| (agent.clone(), model))
            .collect()
    };
    match answer {
        AnswerKind::Independent | AnswerKind::Revision => plan
            .panel
            .seats
            .iter()
            .map(|seat| (AgentId::from(&seat.id), seat.model.clone()))
            .collect(),
        AnswerKind::Synthesis | AnswerKind::CrossExam => first(AgentId::Judge),
        AnswerKind::Verdict | AnswerKind::Menu => match plan.debate.judge_passes {
            JudgePasses::Once => first(AgentId::Judge),
            JudgePasses::Twice => [AgentId::Judge, AgentId::SecondJudge]
                .into_iter()
                .flat_map(first)
                .collect(),
        },
        AnswerKind::PersonaSelection | AnswerKind::Comparison => first(AgentId::Helper),
        AnswerKind::Consistency => plan
            .debate
            .comparer()
            .map(|model| (AgentId::Helper, model.clone()))
            .into_iter()
            .collect(),
    }
}

/// Answers for the prompts of later rounds: prior answers if there are any, else placeholders.
struct Answers {
    places: Places,
    independents: Vec<Independent>,
    revisions: Vec<Revision>,
    synthesis: Synthesis,
    cross_exam: CrossExam,
}

impl Answers {
    fn of(plan: &Plan, labels: &Labels, places: Places) -> Self {
        let words = |words: String| places.words(&words);
        let agents = || plan.panel.seats.iter().map(|seat| &seat.id);
        let position = |agent: &SeatId, round| {
            words(format!(
                "what {} answers in Round {round}",
                labels.label(agent)
            ))
        };
        let revisions: Vec<Revision> = agents()
            .map(|agent| Revision {
                revised_position: position(agent, 3),
                ..Revision::unanswered(agent)
            })
            .collect();
        let synthesis = Synthesis {
            prose_excerpt: words("what the judge finds in Round 2".to_owned()),
            ..Synthesis::default()
        };
        let (independents, cross_exam) = if let Some(prior_answers) = &plan.debate.prior_answers {
            let examined = prior_answers.cross_exam.clone().unwrap_or_default();
            let (_, cross_exam) = plan.material.of(&synthesis, &examined);
            (prior_answers.independents.clone(), cross_exam)
        } else {
            let cross_exam = CrossExam {
                prose_excerpt: words("the judge's record of Round 3".to_owned()),
                positions: revisions.clone(),
                ..CrossExam::default()
            };
            let independents = agents().map(|agent| Independent {
                agent_id: agent.clone(),
                position: position(agent, 1),
                ..Independent::default()
            });
            (independents.collect(), cross_exam)
        };
        Self {
            places,
            independents,
            revisions,
            synthesis,
            cross_exam,
        }
    }

    fn prompt(
        &self,
        plan: &Plan,
        labels: &Labels,
        answer: AnswerKind,
        agent: &AgentId,
        model: &ModelRef,
    ) -> Result<Prompt, PromptError> {
        let prompter = plan.prompter(labels, model);
        let seat = plan.panel.seat_of(agent);
        match answer {
            AnswerKind::Independent => match seat {
                Some(seat) => prompter.independent(seat),
                None => Ok(Prompt::default()),
            },
            AnswerKind::Synthesis => prompter.synthesis(&self.independents),
            AnswerKind::Revision => {
                let own = self
                    .independents
                    .iter()
                    .find(|independent| *agent == independent.agent_id);
                match seat.zip(own) {
                    Some((seat, own)) => prompter.revision(seat, own, &self.synthesis),
                    None => Ok(Prompt::default()),
                }
            }
            AnswerKind::CrossExam => prompter.cross_exam(&self.revisions, &self.synthesis),
            AnswerKind::Verdict | AnswerKind::Menu => {
                prompter.verdict(&self.independents, &self.synthesis, &self.cross_exam)
            }
            AnswerKind::PersonaSelection => {
                prompter.persona_selection(&plan.debate.selectable_personas, plan.panel.seats.len())
            }
            AnswerKind::Comparison => prompter.comparison(&self.pairs(labels)),
            AnswerKind::Consistency => prompter.comparison(&[self.verdicts()]),
        }
    }

    fn pairs(&self, labels: &Labels) -> Vec<Pair> {
        let both = self.independents.iter().zip(&self.revisions);
        both.map(|(before, after)| Pair {
            label: labels.label(&before.agent_id),
            before: before.position.clone(),
            after: after.revised_position.clone(),
        })
        .collect()
    }

    fn verdicts(&self) -> Pair {
        let [before, after] = ["first", "second"]
            .map(|pass| self.places.words(&format!("the judge's {pass} verdict")));
        Pair::verdicts(before, after)
    }
}
