//! Round 4: the judge answers the question, once, or twice with the experts in the opposite order.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{CrossExam, Independent, Synthesis};
use crate::domain::ids::SeatId;
use crate::domain::time::Timestamp;

use super::comparison;
use super::finishing;
use super::judge::{judge_failed, prompt_failed, send_judge};
use super::second_verdict::Second;
use crate::consultation::anonymity::relabel::Relabelling;
use crate::consultation::event::{AbortReason, StateName};
use crate::consultation::machine::step::Turn;
use crate::consultation::plan::options::JudgePasses;
use crate::consultation::prompt::PromptError;
use crate::consultation::prompt::filter;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::state::State;
use crate::consultation::tasks::Work;
use crate::consultation::tasks::{AgentAnswer as Answer, Brief, Settled};

pub(in crate::consultation) const ROUND: u8 = 4;

/// The judge is at work on everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct VerdictRound {
    since: Timestamp,
    pub(in crate::consultation) work: Work,
    independents: Vec<Independent>,
    synthesis: Synthesis,
    cross_exam: CrossExam,
    /// What the judge decided: the answer, when nothing more is to be found out about it.
    #[serde(default)]
    first: Option<Answer>,
    #[serde(default)]
    second: Second,
}

/// `work` is what others than the judge are still at.
pub(in crate::consultation) fn enter(
    turn: &mut Turn<'_>,
    work: Work,
    independents: Vec<Independent>,
    synthesis: Synthesis,
    cross_exam: CrossExam,
) -> State {
    turn.change(StateName::CrossExam, StateName::Verdict);
    turn.begin_round(ROUND);
    let (since, second) = (turn.now, Second::earlier(turn));
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
        .send(turn)
        .and_then(|()| match turn.plan.course.judge_passes {
            JudgePasses::Once => Ok(()),
            JudgePasses::Twice => round.send_again(turn),
        });
    round.go_on(turn, sent)
}

/// What the judge is asked for: one answer or a menu of them.
fn wanted(turn: &Turn<'_>) -> AnswerKind {
    turn.plan.course.mode.strategy().verdict
}

impl VerdictRound {
    fn send(&mut self, turn: &mut Turn<'_>) -> Result<(), PromptError> {
        let (independents, synthesis, cross_exam, material) = (
            &self.independents,
            &self.synthesis,
            &self.cross_exam,
            turn.plan.material,
        );
        send_judge(turn, &mut self.work, wanted(turn), |prompter| {
            filter::verdict(prompter, material, independents, synthesis, cross_exam)
        })
    }

    /// The same for the same judge, in the opposite order.
    fn send_again(&mut self, turn: &mut Turn<'_>) -> Result<(), PromptError> {
        self.second = Second::Awaited;
        let judge = SeatId::second_judge();
        let (from, into) = (turn.plan.labels(), turn.plan.labels_for(&judge));
        let relabelling = Relabelling {
            from: &from,
            into: &into,
        };
        let (synthesis, cross_exam) = (
            relabelling.synthesis(self.synthesis.clone()),
            relabelling.cross_exam(self.cross_exam.clone()),
        );
        let (independents, material) = (&self.independents, turn.plan.material);
        let brief = Brief::render(turn, &judge, |prompter| {
            filter::verdict(prompter, material, independents, &synthesis, &cross_exam)
        })?;
        self.work.send(turn, &judge, wanted(turn), brief);
        Ok(())
    }

    fn go_on(self, turn: &mut Turn<'_>, sent: Result<(), PromptError>) -> State {
        match sent {
            Ok(()) => self.proceed(turn),
            Err(error) => prompt_failed(turn, self.into_state(), &error),
        }
    }

    /// Looks at what the judge has answered, if it has.
    pub(in crate::consultation) fn proceed(mut self, turn: &mut Turn<'_>) -> State {
        comparison::keep(turn, &mut self.work);
        let mut failed = None;
        for Settled {
            agent,
            answer,
            result,
        } in self.work.take_settled()
        {
            if agent.is_judge() {
                match result {
                    Ok(answer) => self.first = Some(answer),
                    Err(error) => failed = Some(error),
                }
            } else if agent.is_second_judge() {
                self.second = Second::decided(turn, result);
            } else if answer == AnswerKind::Consistency {
                self.second = match self.second {
                    Second::Compared(second) => Second::compared(turn, second, result),
                    second @ (Second::NotWanted
                    | Second::Awaited
                    | Second::Decided(_)
                    | Second::Known(_)) => second,
                };
            }
        }
        if let Some(error) = failed {
            return judge_failed(turn, self.into_state(), wanted(turn), &error);
        }
        // What ends the consultation ends it here, as long as there is no answer.
        if turn.is_stopping() {
            return self.into_state();
        }
        self.weigh(turn)
    }

    /// Compares the two verdicts once both are there, and ends when there is nothing more to be
    /// found out.
    fn weigh(mut self, turn: &mut Turn<'_>) -> State {
        let Some(first) = self.first.take() else {
            return self.into_state();
        };
        if let Second::Decided(second) = self.second {
            self.second = match first.content.verdict() {
                Some(said) if !first.degraded => {
                    Second::compare(turn, &mut self.work, said, second)
                }
                Some(_) | None => {
                    Second::Decided(second).given_up(turn, "the verdict could not be read as asked")
                }
            };
            self.first = Some(first);
            return self.proceed(turn);
        }
        if self.second.is_settled() {
            return self.end(turn, first);
        }
        self.first = Some(first);
        self.into_state()
    }

    /// Ends before it is known whether the answer held.
    pub(in crate::consultation) fn cut_short(mut self, turn: &mut Turn<'_>, why: &str) -> State {
        let Some(first) = self.first.take() else {
            return self.into_state();
        };
        self.work.lose_patience(turn, why);
        turn.drop_questions();
        self.second = self.second.given_up(turn, why);
        self.end(turn, first)
    }

    /// Whether an end for this reason comes when there is an answer to give.
    pub(in crate::consultation) fn has_an_answer_for(&self, reason: AbortReason) -> bool {
        self.first.is_some() && reason.leaves_an_answer()
    }

    fn into_state(self) -> State {
        State::Verdict(Box::new(self))
    }

    fn end(self, turn: &mut Turn<'_>, first: Answer) -> State {
        turn.keep(first.content, first.degraded);
        self.second.tell(turn);
        turn.end_round(ROUND, self.since);
        finishing::enter(turn, StateName::Verdict, ROUND, self.work)
    }

    /// Goes on after an end that was none: a judge that failed is asked again.
    pub(in crate::consultation) fn again(mut self, turn: &mut Turn<'_>) -> State {
        if self.first.is_some() || self.work.is_open(&SeatId::judge()) {
            return self.proceed(turn);
        }
        let sent = self.send(turn);
        self.go_on(turn, sent)
    }
}
