//! Round 4: the judge answers the question, once, or twice with the experts in the opposite order.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{CrossExam, Independent, Synthesis};
use crate::domain::ids::AgentId;
use crate::domain::time::Timestamp;

use super::comparison;
use super::finishing;
use super::judge::{judge_failed, prompt_failed, send_judge};
use super::second_verdict::Second;
use crate::consultation::anonymity::relabel::Relabelling;
use crate::consultation::event::{AbortReason, StateName};
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::options::JudgePasses;
use crate::consultation::prompt::PromptError;
use crate::consultation::prompt::filter;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::state::State;
use crate::consultation::tasks::TaskSet;
use crate::consultation::tasks::{AgentAnswer, PromptSet, TaskOutcome};

pub(in crate::consultation) const ROUND: u8 = 4;

/// The judge is at work on everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct VerdictRound {
    since: Timestamp,
    pub(in crate::consultation) work: TaskSet,
    independents: Vec<Independent>,
    synthesis: Synthesis,
    cross_exam: CrossExam,
    /// What the judge decided: the answer, when nothing more is to be found out about it.
    #[serde(default)]
    first: Option<AgentAnswer>,
    #[serde(default)]
    second: Second,
}

/// `work` is what others than the judge are still at.
pub(in crate::consultation) fn enter(
    step: &mut StepContext<'_>,
    work: TaskSet,
    independents: Vec<Independent>,
    synthesis: Synthesis,
    cross_exam: CrossExam,
) -> State {
    step.change(StateName::CrossExam, StateName::Verdict);
    step.begin_round(ROUND);
    let (since, second) = (step.now, Second::earlier(step));
    let mut round = VerdictRound {
        since,
        work,
        independents,
        synthesis,
        cross_exam,
        first: None,
        second,
    };
    let sent = round
        .send(step)
        .and_then(|()| match step.plan.debate.judge_passes {
            JudgePasses::Once => Ok(()),
            JudgePasses::Twice => round.send_again(step),
        });
    round.go_on(step, sent)
}

/// What the judge is asked for: one answer or a menu of them.
fn wanted(step: &StepContext<'_>) -> AnswerKind {
    step.plan.debate.mode.strategy().verdict
}

impl VerdictRound {
    fn send(&mut self, step: &mut StepContext<'_>) -> Result<(), PromptError> {
        let (independents, synthesis, cross_exam, material) = (
            &self.independents,
            &self.synthesis,
            &self.cross_exam,
            step.plan.material,
        );
        send_judge(step, &mut self.work, wanted(step), |prompter| {
            filter::verdict(prompter, material, independents, synthesis, cross_exam)
        })
    }

    /// The same for the same judge, in the opposite order.
    fn send_again(&mut self, step: &mut StepContext<'_>) -> Result<(), PromptError> {
        self.second = Second::Awaited;
        let judge = AgentId::SecondJudge;
        let (from, into) = (step.plan.labels(), step.plan.labels_for(&judge));
        let relabelling = Relabelling {
            from: &from,
            into: &into,
        };
        let (synthesis, cross_exam) = (
            relabelling.synthesis(self.synthesis.clone()),
            relabelling.cross_exam(self.cross_exam.clone()),
        );
        let (independents, material) = (&self.independents, step.plan.material);
        let prompts = PromptSet::render(step, &judge, |prompter| {
            filter::verdict(prompter, material, independents, &synthesis, &cross_exam)
        })?;
        self.work.send(step, &judge, wanted(step), prompts);
        Ok(())
    }

    fn go_on(self, step: &mut StepContext<'_>, sent: Result<(), PromptError>) -> State {
        match sent {
            Ok(()) => self.proceed(step),
            Err(error) => prompt_failed(step, self.into_state(), &error),
        }
    }

    /// Looks at what the judge has answered, if it has.
    pub(in crate::consultation) fn proceed(mut self, step: &mut StepContext<'_>) -> State {
        comparison::keep(step, &mut self.work);
        let mut failed = None;
        for TaskOutcome {
            agent,
            answer,
            result,
        } in self.work.take_settled()
        {
            if agent == AgentId::Judge {
                match result {
                    Ok(answer) => self.first = Some(answer),
                    Err(error) => failed = Some(error),
                }
            } else if agent == AgentId::SecondJudge {
                self.second = Second::decided(step, result);
            } else if answer == AnswerKind::Consistency {
                self.second = match self.second {
                    Second::Compared(second) => Second::compared(step, second, result),
                    second @ (Second::NotWanted
                    | Second::Awaited
                    | Second::Decided(_)
                    | Second::Known(_)) => second,
                };
            }
        }
        if let Some(error) = failed {
            return judge_failed(step, self.into_state(), wanted(step), &error);
        }
        // What ends the consultation ends it here, as long as there is no answer.
        if step.is_stopping() {
            return self.into_state();
        }
        self.weigh(step)
    }

    /// Compares the two verdicts once both are there, and ends when there is nothing more to be
    /// found out.
    fn weigh(mut self, step: &mut StepContext<'_>) -> State {
        let Some(first) = self.first.take() else {
            return self.into_state();
        };
        if let Second::Decided(second) = self.second {
            self.second = match first.content.verdict() {
                Some(said) if !first.degraded => {
                    Second::compare(step, &mut self.work, said, second)
                }
                Some(_) | None => {
                    Second::Decided(second).given_up(step, "the verdict could not be read as asked")
                }
            };
            self.first = Some(first);
            return self.proceed(step);
        }
        if self.second.is_settled() {
            return self.end(step, first);
        }
        self.first = Some(first);
        self.into_state()
    }

    /// Ends before it is known whether the answer held.
    pub(in crate::consultation) fn cut_short(
        mut self,
        step: &mut StepContext<'_>,
        why: &str,
    ) -> State {
        let Some(first) = self.first.take() else {
            return self.into_state();
        };
        self.work.abandon(step, why);
        step.drop_questions();
        self.second = self.second.given_up(step, why);
        self.end(step, first)
    }

    /// Whether an end for this reason comes when there is an answer to give.
    pub(in crate::consultation) fn has_an_answer_for(&self, reason: AbortReason) -> bool {
        self.first.is_some() && reason.leaves_an_answer()
    }

    fn into_state(self) -> State {
        State::Verdict(Box::new(self))
    }

    fn end(self, step: &mut StepContext<'_>, first: AgentAnswer) -> State {
        step.keep(first.content, first.degraded);
        self.second.tell(step);
        step.end_round(ROUND, self.since);
        finishing::enter(step, StateName::Verdict, ROUND, self.work)
    }

    /// Goes on after an end that was none: a judge that failed is asked again.
    pub(in crate::consultation) fn again(mut self, step: &mut StepContext<'_>) -> State {
        if self.first.is_some() || self.work.is_open(&AgentId::Judge) {
            return self.proceed(step);
        }
        let sent = self.send(step);
        self.go_on(step, sent)
    }
}
