//! Round 4: the judge answers the question, once, or twice with the experts in the opposite order.

use crate::domain::answer::artifact::{CrossExam, Independent, Synthesis};
use crate::domain::ids::AgentId;
use crate::domain::time::Timestamp;

use super::comparison;
use super::judge::judge_failed;
use super::next::{Break, Continue, Entry, Next};
use super::second_verdict::SecondPassProgress;
use crate::consultation::anonymity::relabel::Relabelling;
use crate::consultation::event::{AbortReason, StateName};
use crate::consultation::machine::round;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::plan::options::JudgePasses;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::tasks::{AgentAnswer, TaskOutcome, TaskSet};

pub(crate) const ROUND: u8 = 4;

/// Round 4.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VerdictRound {
    since: Timestamp,
    pub(crate) tasks: TaskSet,
    independents: Vec<Independent>,
    synthesis: Synthesis,
    cross_exam: CrossExam,
    /// The verdict, once it has arrived.
    pub(crate) first: Option<AgentAnswer>,
    second: SecondPassProgress,
}

/// `tasks` holds open optional tasks.
pub(crate) fn enter(
    step: &mut StepContext<'_>,
    tasks: TaskSet,
    independents: Vec<Independent>,
    synthesis: Synthesis,
    cross_exam: CrossExam,
) -> Next<Box<VerdictRound>> {
    round::begin(step, ROUND);
    let (since, second) = (step.now, SecondPassProgress::earlier(step.plan));
    let mut verdict = VerdictRound {
        since,
        tasks,
        independents,
        synthesis,
        cross_exam,
        first: None,
        second,
    };
    verdict.send(step);
    match step.plan.debate.judge_passes {
        JudgePasses::Once => {}
        JudgePasses::Twice => verdict.send_second_pass(step),
    }
    Box::new(verdict).proceed(step)
}

fn answer_kind(plan: &Plan) -> AnswerKind {
    plan.debate.mode.strategy().verdict
}

impl VerdictRound {
    fn send(&mut self, step: &mut StepContext<'_>) {
        let (answer, material) = (answer_kind(step.plan), step.plan.material);
        self.tasks.send(step, &AgentId::Judge, answer, |prompter| {
            material.render(&self.synthesis, &self.cross_exam, |synthesis, record| {
                prompter.verdict(&self.independents, synthesis, record)
            })
        });
    }

    /// Starts the second pass, with the experts in the opposite order.
    fn send_second_pass(&mut self, step: &mut StepContext<'_>) {
        self.second = SecondPassProgress::Pending;
        let judge = AgentId::SecondJudge;
        let (from, into) = (step.plan.labels(), step.plan.labels_for(&judge));
        let relabelling = Relabelling {
            from: &from,
            into: &into,
        };
        let (synthesis, cross_exam) = (
            relabelling.synthesis(self.synthesis.clone()),
            relabelling.rewrite(self.cross_exam.clone()),
        );
        let (answer, material) = (answer_kind(step.plan), step.plan.material);
        self.tasks.send(step, &judge, answer, |prompter| {
            material.render(&synthesis, &cross_exam, |synthesis, record| {
                prompter.verdict(&self.independents, synthesis, record)
            })
        });
    }

    pub(crate) fn proceed(mut self: Box<Self>, step: &mut StepContext<'_>) -> Next<Box<Self>> {
        comparison::keep(&mut step.emitter, &mut self.tasks);
        let mut failed = None;
        for TaskOutcome {
            agent,
            answer,
            result,
        } in self.tasks.take_outcomes()
        {
            if agent == AgentId::Judge {
                match result {
                    Ok(answer) => self.first = Some(answer),
                    Err(error) => failed = Some(error),
                }
            } else if agent == AgentId::SecondJudge {
                self.second = SecondPassProgress::decided(step.plan, result);
            } else if answer == AnswerKind::Consistency {
                self.second = self.second.compared(step.plan, result);
            }
        }
        if let Some(error) = failed {
            judge_failed(step, ROUND, StateName::Verdict, &error);
        }
        // A consultation that is about to end starts no comparison.
        if step.is_stopping() {
            return Continue(self);
        }
        self.weigh(step)
    }

    fn weigh(mut self: Box<Self>, step: &mut StepContext<'_>) -> Next<Box<Self>> {
        if let (Some(first), SecondPassProgress::Decided(second)) = (&self.first, &self.second) {
            let second = second.clone();
            self.second = match first.content.verdict() {
                Some(said) if !first.degraded => {
                    SecondPassProgress::compare(step, &mut self.tasks, said, second)
                }
                Some(_) | None => SecondPassProgress::Decided(second)
                    .given_up(step.plan, "the verdict could not be read as asked"),
            };
            return self.proceed(step);
        }
        if self.second.is_settled()
            && let Some(first) = self.first.take()
        {
            return self.end(step, first);
        }
        Continue(self)
    }

    /// Ends with the verdict before the second one is settled.
    pub(crate) fn cut_short(
        mut self: Box<Self>,
        step: &mut StepContext<'_>,
        why: &str,
    ) -> Next<Box<Self>> {
        let arrived = self.first.take();
        let Some(first) = arrived.or_else(|| self.tasks.take_answer(step, &AgentId::Judge)) else {
            return Continue(self);
        };
        if let Some(second) = self.tasks.take_answer(step, &AgentId::SecondJudge) {
            self.second = SecondPassProgress::decided(step.plan, Ok(second));
        }
        self.tasks.abandon(step, why);
        step.run.questions.withdraw(&mut step.emitter, |_| true);
        self.second = self.second.given_up(step.plan, why);
        self.end(step, first)
    }

    /// Returns whether there is a verdict to give although the consultation ends for this reason.
    pub(crate) fn has_an_answer_for(&self, plan: &Plan, reason: AbortReason) -> bool {
        let has_answer = self.first.is_some() || self.tasks.has_answer(plan, &AgentId::Judge);
        has_answer && reason.leaves_an_answer()
    }

    fn end(self: Box<Self>, step: &mut StepContext<'_>, first: AgentAnswer) -> Next<Box<Self>> {
        step.emitter.emit_artifact(first.content, first.degraded);
        self.second.emit(step.plan, &mut step.emitter);
        round::end(step, ROUND, self.since);
        Break(Entry::Finishing {
            rounds: ROUND,
            tasks: self.tasks,
        })
    }

    /// A judge that failed is asked again.
    pub(crate) fn resume(mut self: Box<Self>, step: &mut StepContext<'_>) -> Next<Box<Self>> {
        if self.first.is_some() || self.tasks.is_open(&AgentId::Judge) {
            return self.proceed(step);
        }
        self.send(step);
        self.proceed(step)
    }
}
