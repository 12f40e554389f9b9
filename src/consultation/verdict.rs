//! Round 4: the judge answers the question.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{CrossExam, Independent, Synthesis};
use crate::domain::ids::SeatId;
use crate::domain::time::Timestamp;

use super::answer::AnswerKind;
use super::calls::Work;
use super::closing;
use super::comparing;
use super::event::StateName;
use super::filtering;
use super::judging::{judge_failed, judged, prompt_failed, send_judge};
use super::state::State;
use super::turn::Turn;

pub(super) const ROUND: u8 = 4;

/// The judge is at work on everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct VerdictRound {
    since: Timestamp,
    pub(super) work: Work,
    independents: Vec<Independent>,
    synthesis: Synthesis,
    cross_exam: CrossExam,
}

/// `work` is what others than the judge are still at.
pub(super) fn enter(turn: &mut Turn<'_>, work: Work, independents: Vec<Independent>, synthesis: Synthesis, cross_exam: CrossExam) -> State {
    turn.change(StateName::CrossExam, StateName::Verdict);
    turn.begin_round(ROUND);
    VerdictRound { since: turn.now, work, independents, synthesis, cross_exam }.send(turn)
}

/// What the judge is asked for: one answer or a menu of them.
fn wanted(turn: &Turn<'_>) -> AnswerKind {
    turn.plan.course.mode.strategy().verdict
}

impl VerdictRound {
    fn send(mut self, turn: &mut Turn<'_>) -> State {
        let (independents, synthesis, cross_exam, material) = (&self.independents, &self.synthesis, &self.cross_exam, turn.plan.material);
        let kind = wanted(turn);
        let sent =
            send_judge(turn, &mut self.work, kind, |prompter| filtering::verdict(prompter, material, independents, synthesis, cross_exam));
        match sent {
            Ok(()) => self.proceed(turn),
            Err(error) => prompt_failed(turn, State::Verdict(self), &error),
        }
    }

    /// Looks at what the judge has answered, if it has.
    pub(super) fn proceed(mut self, turn: &mut Turn<'_>) -> State {
        comparing::keep(turn, &mut self.work);
        let Some(settled) = judged(&mut self.work) else { return State::Verdict(self) };
        match settled.result {
            Ok(answer) => {
                turn.keep(answer.content, answer.degraded);
                turn.end_round(ROUND, self.since);
                closing::enter(turn, StateName::Verdict, ROUND, self.work)
            }
            Err(error) => {
                let kind = wanted(turn);
                judge_failed(turn, State::Verdict(self), kind, &error)
            }
        }
    }

    /// Goes on after an end that was none: a judge that failed is asked again.
    pub(super) fn again(self, turn: &mut Turn<'_>) -> State {
        if self.work.is_open(&SeatId::judge()) { self.proceed(turn) } else { self.send(turn) }
    }
}
