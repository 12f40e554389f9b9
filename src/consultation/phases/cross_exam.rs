//! Round 3: every expert that answered challenges the others and revises its own position, all in
//! parallel; then the judge merges their answers.

use crate::domain::answer::artifact::{Content, CrossExam, Independent, Revision, Synthesis};
use crate::domain::ids::AgentId;
use crate::domain::time::Timestamp;

use super::judge::{judge_failed, judged};
use super::next::{Break, Continue, Entry, Next};
use super::{comparison, judge};
use crate::consultation::event::StateName;
use crate::consultation::machine::round;
use crate::consultation::machine::step::StepContext;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::tasks::{AgentAnswer, TaskSet};

pub(crate) const ROUND: u8 = 3;

/// The cross-examination.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CrossExamination {
    since: Timestamp,
    pub(crate) tasks: TaskSet,
    independents: Vec<Independent>,
    synthesis: Synthesis,
    stage: Stage,
    revisions: Vec<Revision>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The experts' tasks are open.
    Examining,
    /// The judge merges their answers.
    Merging,
}

pub(crate) fn enter(
    step: &mut StepContext<'_>,
    independents: Vec<Independent>,
    synthesis: Synthesis,
) -> Next<CrossExamination> {
    round::begin(step, ROUND);
    if let Some(prior_answers) = &step.plan.debate.prior_answers {
        let cross_exam = judge::cross_examination(&mut step.emitter, prior_answers);
        round::end(step, ROUND, step.now);
        return Break(Entry::Verdict {
            tasks: TaskSet::default(),
            independents,
            synthesis,
            cross_exam,
        });
    }
    CrossExamination {
        since: step.now,
        tasks: TaskSet::default(),
        independents,
        synthesis,
        stage: Stage::Examining,
        revisions: Vec::new(),
    }
    .examine(step)
}

impl CrossExamination {
    fn examine(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        for own in &self.independents {
            let Some(seat) = step.plan.panel.seat(&own.agent_id) else {
                continue;
            };
            let agent = AgentId::from(&seat.id);
            let (material, synthesis) = (step.plan.material, &self.synthesis);
            self.tasks
                .send(step, &agent, AnswerKind::Revision, |prompter| {
                    material.render(synthesis, &CrossExam::default(), |synthesis, _| {
                        prompter.revision(seat, own, synthesis)
                    })
                });
        }
        self.proceed(step)
    }

    pub(crate) fn proceed(self, step: &mut StepContext<'_>) -> Next<Self> {
        match self.stage {
            Stage::Examining => self.examined(step),
            Stage::Merging => self.merged(step),
        }
    }

    /// Returns whether an expert has answered, and the judge is not asked yet.
    pub(crate) fn has_a_revision(&self) -> bool {
        self.stage == Stage::Examining && !self.revisions.is_empty()
    }

    /// A judge that failed is asked again.
    pub(crate) fn resume(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        match self.stage {
            Stage::Merging if !self.tasks.is_open(&AgentId::Judge) => {
                self.send_judge(step);
                self.merged(step)
            }
            Stage::Examining | Stage::Merging => self.proceed(step),
        }
    }

    /// If an expert failed, its answer of Round 1 still counts.
    fn examined(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        for outcome in self.tasks.take_outcomes() {
            if let Ok(AgentAnswer {
                content, degraded, ..
            }) = outcome.result
            {
                if let Content::Revision(revision) = &content {
                    self.revisions.push(revision.clone());
                }
                step.emitter.emit_artifact(content, degraded);
            }
        }
        // A consultation that is about to end starts no new stage.
        if !self.tasks.is_done() || step.is_stopping() {
            return Continue(self);
        }
        let seats = &step.plan.panel.seats;
        self.revisions
            .sort_by_key(|revision| seats.iter().position(|seat| seat.id == revision.agent_id));
        if self.revisions.is_empty() {
            // Nothing to merge: the verdict uses Rounds 1 and 2, and the result names the experts
            // that failed.
            self.end(step, CrossExam::default(), true)
        } else {
            self.merge(step)
        }
    }

    /// Starts the judge's task before the comparison: if a ceiling or limit allows only one call,
    /// it must be the judge's.
    fn merge(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        self.stage = Stage::Merging;
        self.send_judge(step);
        // Also when the judge's task stops the consultation: a resume continues both.
        comparison::send(step, &mut self.tasks, &self.independents, &self.revisions);
        self.merged(step)
    }

    fn send_judge(&mut self, step: &mut StepContext<'_>) {
        let (judge, material) = (AgentId::Judge, step.plan.material);
        self.tasks
            .send(step, &judge, AnswerKind::CrossExam, |prompter| {
                material.render(&self.synthesis, &CrossExam::default(), |synthesis, _| {
                    prompter.cross_exam(&self.revisions, synthesis)
                })
            });
    }

    fn merged(mut self, step: &mut StepContext<'_>) -> Next<Self> {
        comparison::keep(&mut step.emitter, &mut self.tasks);
        let Some(outcome) = judged(&mut self.tasks) else {
            return Continue(self);
        };
        match outcome.result {
            Ok(AgentAnswer {
                content: Content::CrossExam(merged),
                degraded,
                ..
            }) => self.end(step, merged, degraded),
            Ok(AgentAnswer { .. }) => self.end(step, CrossExam::default(), true),
            Err(error) => {
                judge_failed(step, ROUND, StateName::CrossExam, &error);
                Continue(self)
            }
        }
    }

    fn end(self, step: &mut StepContext<'_>, merged: CrossExam, degraded: bool) -> Next<Self> {
        let mut cross_exam = CrossExam {
            positions: self.revisions,
            ..merged
        };
        // A round without challenges leaves nothing unresolved.
        if !cross_exam.has_challenges() {
            cross_exam.unresolved.clear();
        }
        step.emitter
            .emit_artifact(Content::CrossExam(cross_exam.clone()), degraded);
        round::end(step, ROUND, self.since);
        if step.plan.debate.rounds.number() <= ROUND {
            return Break(Entry::Finishing {
                rounds: ROUND,
                tasks: self.tasks,
            });
        }
        Break(Entry::Verdict {
            tasks: self.tasks,
            independents: self.independents,
            synthesis: self.synthesis,
            cross_exam,
        })
    }
}
