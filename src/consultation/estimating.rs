//! Estimating: what the consultation will take, from the prompts as they will be sent.
//!
//! Prompts of later rounds carry answers that do not exist yet: these are counted at the length that an answer is expected to have.

use crate::domain::artifact::{CrossExam, Independent, Revision, Synthesis};
use crate::domain::ids::{ModelRef, SeatId};
use crate::domain::tokens::{Usage, estimate_tokens};

use super::answer::AnswerKind;
use super::awaiting_consent;
use super::call::Prompt;
use super::event::{AbortReason, CallEstimate, Estimate, Event, PromptUsed, Started, StateName};
use super::plan::Plan;
use super::prompt::PromptError;
use super::state::State;
use super::turn::Turn;

pub(super) fn enter(turn: &mut Turn<'_>) -> State {
    turn.begin();
    let plan = turn.plan;
    turn.emit(Event::Started(Box::new(started(plan))));
    turn.change(StateName::Idle, StateName::Estimating);
    match estimate(plan) {
        Ok(estimate) => {
            turn.emit(Event::CostEstimated(estimate.clone()));
            awaiting_consent::enter(turn, estimate)
        }
        Err(error) => turn.abort(State::Estimating, AbortReason::Prompt, error.to_string()),
    }
}

fn started(plan: &Plan) -> Started {
    let prompts: Vec<PromptUsed> = plan.templates.used();
    Started {
        question: plan.question.clone(),
        mode: "converge".to_owned(),
        panel: plan.panel.clone(),
        seed: plan.seed,
        expert_order: plan.labels().order().to_vec(),
        prompts,
        tool_version: plan.tool_version.clone(),
        notices: plan.notices.clone(),
        plan: Some(Box::new(plan.clone())),
    }
}

/// Renders every prompt of every round, with empty answers where answers will stand, and counts.
fn estimate(plan: &Plan) -> Result<Estimate, PromptError> {
    let blanks = Blanks::for_panel(plan);
    let mut estimate = Estimate::default();
    for answer in AnswerKind::ALL {
        for (agent, model) in askers(plan, answer) {
            let prompt = blanks.prompt(plan, answer, &agent, &model)?;
            let output_tokens = plan.expected_output(&model, answer).expected;
            let carried = blanks.answers_carried(answer).saturating_mul(output_tokens);
            let input_tokens = estimate_tokens(&prompt.text()).saturating_add(carried);
            let usage = Usage { input: input_tokens, output: output_tokens, ..Usage::default() };
            let cost = plan.expected_cost(&model, &usage);
            estimate.input_tokens += input_tokens;
            estimate.output_tokens += output_tokens;
            estimate.cost += cost;
            estimate.calls.push(CallEstimate {
                round_number: answer.round(),
                agent_id: agent,
                answer,
                model,
                input_tokens,
                output_tokens,
                cost,
                low: cost,
                high: cost,
            });
        }
    }
    (estimate.low, estimate.high) = (estimate.cost, estimate.cost);
    Ok(estimate)
}

/// Who is asked for a kind of answer.
fn askers(plan: &Plan, answer: AnswerKind) -> Vec<(SeatId, ModelRef)> {
    match answer {
        AnswerKind::Independent | AnswerKind::Revision => {
            plan.panel.seats.iter().map(|seat| (seat.id.clone(), seat.model.clone())).collect()
        }
        AnswerKind::Synthesis | AnswerKind::CrossExam | AnswerKind::Verdict => {
            plan.panel.judges.first().map(|model| (SeatId::judge(), model.clone())).into_iter().collect()
        }
    }
}

/// Answers without text, to render the later prompts with.
struct Blanks {
    independents: Vec<Independent>,
    revisions: Vec<Revision>,
    synthesis: Synthesis,
    cross_exam: CrossExam,
}

impl Blanks {
    fn for_panel(plan: &Plan) -> Self {
        let seats = plan.panel.seats.iter().map(|seat| seat.id.clone());
        let independents = seats.clone().map(|agent_id| Independent {
            agent_id,
            position: String::new(),
            key_points: Vec::new(),
            rationale: String::new(),
            confidence: None,
            prose_excerpt: String::new(),
        });
        let revisions = seats.map(|agent_id| Revision {
            agent_id,
            challenges: Vec::new(),
            rebuttals: Vec::new(),
            revised_position: String::new(),
            revised_confidence: None,
            changed: false,
            because_of: Vec::new(),
        });
        Self {
            independents: independents.collect(),
            revisions: revisions.collect(),
            synthesis: Synthesis::default(),
            cross_exam: CrossExam::default(),
        }
    }

    fn prompt(&self, plan: &Plan, answer: AnswerKind, agent: &SeatId, model: &ModelRef) -> Result<Prompt, PromptError> {
        let labels = plan.labels();
        let prompter = plan.prompter(&labels, model);
        match answer {
            AnswerKind::Independent => match plan.panel.seat(agent) {
                Some(seat) => prompter.independent(seat),
                None => Ok(Prompt::default()),
            },
            AnswerKind::Synthesis => prompter.synthesis(&self.independents),
            AnswerKind::Revision => {
                let own = self.independents.iter().find(|independent| &independent.agent_id == agent);
                match plan.panel.seat(agent).zip(own) {
                    Some((seat, own)) => prompter.revision(seat, own, &self.synthesis),
                    None => Ok(Prompt::default()),
                }
            }
            AnswerKind::CrossExam => prompter.cross_exam(&self.revisions, &self.synthesis),
            AnswerKind::Verdict => prompter.verdict(&self.independents, &self.synthesis, &self.cross_exam),
        }
    }

    /// How many answers of other calls a prompt carries.
    fn answers_carried(&self, answer: AnswerKind) -> u64 {
        let experts = self.independents.len() as u64;
        match answer {
            AnswerKind::Independent => 0,
            AnswerKind::Synthesis => experts,
            AnswerKind::Revision => 2,
            AnswerKind::CrossExam => experts + 1,
            AnswerKind::Verdict => experts + 2,
        }
    }
}
