//! Round 2: the judge names points of agreement and differences.

use crate::domain::ids::AgentId;
use crate::domain::time::Timestamp;

use super::early_termination::{self, SynthesisResult};
use super::judge::{judge_failed, judged};
use super::next::{Continue, ExpertAnswers, Next};
use crate::consultation::event::{Answer, EarlyTermination, StateName};
use crate::consultation::machine::round;
use crate::consultation::machine::step::StepContext;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::tasks::TaskSet;

pub(crate) const ROUND: u8 = early_termination::ROUND;

/// The two stages of Round 2.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SynthesisRound {
    /// The judge's task is open.
    Judging(Judging),
    /// The judge has answered; the next phase is not decided yet, because the person is asked or
    /// the consultation was stopped.
    Judged(Box<SynthesisResult>),
}

/// The judge's task and its input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judging {
    since: Timestamp,
    tasks: TaskSet,
    answers: ExpertAnswers,
}

pub(crate) fn enter(step: &mut StepContext<'_>, answers: ExpertAnswers) -> Next<SynthesisRound> {
    round::begin(step, ROUND);
    Judging {
        since: step.now,
        tasks: TaskSet::default(),
        answers,
    }
    .send(step)
}

impl SynthesisRound {
    pub(crate) fn tasks(&mut self) -> Option<&mut TaskSet> {
        match self {
            Self::Judging(judging) => Some(&mut judging.tasks),
            Self::Judged(_) => None,
        }
    }

    pub(crate) fn proceed(self, step: &mut StepContext<'_>) -> Next<Self> {
        match self {
            Self::Judging(judging) => judging.proceed(step),
            Self::Judged(_) => Continue(self),
        }
    }

    /// A judge that failed is asked again, and the person as well.
    pub(crate) fn resume(self, step: &mut StepContext<'_>) -> Next<Self> {
        match self {
            Self::Judging(judging) if judging.tasks.is_done() => judging.send(step),
            Self::Judging(judging) => judging.proceed(step),
            Self::Judged(result) => judged_next(early_termination::decide(step, *result)),
        }
    }

    pub(crate) fn answered(
        self,
        step: &mut StepContext<'_>,
        findings: EarlyTermination,
        answer: Answer,
    ) -> Next<Self> {
        match self {
            Self::Judging(_) => Continue(self),
            Self::Judged(result) => {
                let next = early_termination::answered(step, *result, findings, answer);
                judged_next(next)
            }
        }
    }
}

impl Judging {
    fn send(mut self, step: &mut StepContext<'_>) -> Next<SynthesisRound> {
        let independents = &self.answers.independents;
        self.tasks
            .send(step, &AgentId::Judge, AnswerKind::Synthesis, |prompter| {
                prompter.synthesis(independents)
            });
        self.proceed(step)
    }

    fn proceed(mut self, step: &mut StepContext<'_>) -> Next<SynthesisRound> {
        let Some(outcome) = judged(&mut self.tasks) else {
            return Continue(SynthesisRound::Judging(self));
        };
        match outcome.result {
            Ok(answer) => {
                step.emitter
                    .emit_artifact(answer.content.clone(), answer.degraded);
                round::end(step, ROUND, self.since);
                let mut answers = self.answers;
                answers.impaired += usize::from(!answer.is_evidence());
                let result = SynthesisResult {
                    answers,
                    synthesis: answer.content.synthesis().cloned().unwrap_or_default(),
                    judge: answer.source,
                };
                judged_next(early_termination::decide(step, result))
            }
            Err(error) => {
                judge_failed(step, ROUND, StateName::Synthesis, &error);
                Continue(SynthesisRound::Judging(self))
            }
        }
    }
}

fn judged_next(next: Next<SynthesisResult>) -> Next<SynthesisRound> {
    next.map_continue(|result| SynthesisRound::Judged(Box::new(result)))
}
