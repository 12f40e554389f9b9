//! Round 3: every expert who answered challenges the others and revises its own position, all at
//! once; then the judge merges.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Content, CrossExam, Independent, Revision, Synthesis};
use crate::domain::ids::AgentId;
use crate::domain::time::Timestamp;

use super::comparison;
use super::finishing;
use super::judge::{judge_failed, judged, prompt_failed, send_judge};
use super::prior_answers;
use super::verdict;
use crate::consultation::analysis::compose;
use crate::consultation::analysis::compose::Material;
use crate::consultation::event::{AbortReason, StateName};
use crate::consultation::machine::step::StepContext;
use crate::consultation::policy::quorum::{Quorum, quorum};
use crate::consultation::prompt::PromptError;
use crate::consultation::prompt::filter;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::state::State;
use crate::consultation::tasks::TaskSet;
use crate::consultation::tasks::{AgentAnswer, PromptSet};

pub(in crate::consultation) const ROUND: u8 = 3;

/// The cross-examination, in its two steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct CrossExamination {
    since: Timestamp,
    pub(in crate::consultation) work: TaskSet,
    independents: Vec<Independent>,
    synthesis: Synthesis,
    step: Step,
    revisions: Vec<Revision>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    /// The experts are at work.
    Examining,
    /// The judge is merging their answers.
    Merging,
}

pub(in crate::consultation) fn enter(
    step: &mut StepContext<'_>,
    independents: Vec<Independent>,
    synthesis: Synthesis,
) -> State {
    step.change(StateName::Synthesis, StateName::CrossExam);
    step.begin_round(ROUND);
    if let Some(prior_answers) = &step.plan.debate.prior_answers {
        let cross_exam = prior_answers::cross_examination(step, prior_answers);
        step.end_round(ROUND, step.now);
        return verdict::enter(
            step,
            TaskSet::default(),
            independents,
            synthesis,
            cross_exam,
        );
    }
    CrossExamination {
        since: step.now,
        work: TaskSet::default(),
        independents,
        synthesis,
        step: Step::Examining,
        revisions: Vec::new(),
    }
    .examine(step)
}

impl CrossExamination {
    fn examine(mut self, step: &mut StepContext<'_>) -> State {
        for own in &self.independents {
            let Some(seat) = step.plan.panel.seat(&own.agent_id) else {
                continue;
            };
            let agent = AgentId::from(&seat.id);
            let material = step.plan.material;
            match PromptSet::render(step, &agent, |prompter| {
                filter::revision(prompter, material, seat, own, &self.synthesis)
            }) {
                Ok(prompts) => self.work.send(step, &agent, AnswerKind::Revision, prompts),
                Err(error) => {
                    self.work.cancel(step, AbortReason::Prompt);
                    return prompt_failed(step, State::CrossExam(self), &error);
                }
            }
        }
        self.proceed(step)
    }

    /// Looks at what has been settled.
    pub(in crate::consultation) fn proceed(self, step: &mut StepContext<'_>) -> State {
        match self.step {
            Step::Examining => self.examined(step),
            Step::Merging => self.merged(step),
        }
    }

    /// Goes on after an end that was none: a judge that failed is asked again.
    pub(in crate::consultation) fn again(mut self, step: &mut StepContext<'_>) -> State {
        match self.step {
            Step::Merging if !self.work.is_open(&AgentId::Judge) => {
                let sent = self.send_judge(step);
                self.go_on(step, sent)
            }
            Step::Examining | Step::Merging => self.proceed(step),
        }
    }

    /// Experts have answered, or failed: then their Round-1 answers still stand.
    fn examined(mut self, step: &mut StepContext<'_>) -> State {
        for outcome in self.work.take_settled() {
            if let Ok(AgentAnswer {
                content, degraded, ..
            }) = outcome.result
            {
                if let Content::Revision(revision) = &content {
                    self.revisions.push(revision.clone());
                }
                step.keep(content, degraded);
            }
        }
        // What ends the consultation ends it here: the next step begins when it is gone on with.
        if !self.work.is_done() || step.is_stopping() {
            return State::CrossExam(self);
        }
        let seats = &step.plan.panel.seats;
        self.revisions
            .sort_by_key(|revision| seats.iter().position(|seat| seat.id == revision.agent_id));
        match quorum(self.revisions.len()) {
            Quorum::Met => self.merge(step),
            // Nothing to merge: the verdict rests on Rounds 1 and 2, which are paid for, and the
            // result says who failed.
            Quorum::Nobody => self.end(step, CrossExam::default(), true),
        }
    }

    /// The judge comes first: where there is room for one call only, it is the one that is waited
    /// for.
    fn merge(mut self, step: &mut StepContext<'_>) -> State {
        self.step = Step::Merging;
        let sent = self.send_judge(step);
        if sent.is_ok() {
            comparison::send(step, &mut self.work, &self.independents, &self.revisions);
        }
        self.go_on(step, sent)
    }

    fn send_judge(&mut self, step: &mut StepContext<'_>) -> Result<(), PromptError> {
        let (revisions, synthesis, material) =
            (&self.revisions, &self.synthesis, step.plan.material);
        send_judge(step, &mut self.work, AnswerKind::CrossExam, |prompter| {
            filter::merging(prompter, material, revisions, synthesis)
        })
    }

    fn go_on(self, step: &mut StepContext<'_>, sent: Result<(), PromptError>) -> State {
        match sent {
            Ok(()) => self.merged(step),
            Err(error) => prompt_failed(step, State::CrossExam(self), &error),
        }
    }

    fn merged(mut self, step: &mut StepContext<'_>) -> State {
        comparison::keep(step, &mut self.work);
        let Some(outcome) = judged(&mut self.work) else {
            return State::CrossExam(self);
        };
        match outcome.result {
            Ok(AgentAnswer {
                content: Content::CrossExam(merged),
                degraded,
                ..
            }) => self.end(step, merged, degraded),
            Ok(AgentAnswer { .. }) => self.end(step, CrossExam::default(), true),
            Err(error) => judge_failed(step, State::CrossExam(self), AnswerKind::CrossExam, &error),
        }
    }

    fn end(self, step: &mut StepContext<'_>, merged: CrossExam, degraded: bool) -> State {
        let cross_exam = CrossExam {
            positions: self.revisions,
            ..merged
        };
        step.keep(Content::CrossExam(cross_exam.clone()), degraded);
        step.end_round(ROUND, self.since);
        if step.plan.debate.rounds.number() <= ROUND {
            let material = Material {
                independents: &self.independents,
                synthesis: &self.synthesis,
                cross_exam: Some(&cross_exam),
            };
            compose::keep(step, material);
            return finishing::enter(step, StateName::CrossExam, ROUND, self.work);
        }
        verdict::enter(
            step,
            self.work,
            self.independents,
            self.synthesis,
            cross_exam,
        )
    }
}
