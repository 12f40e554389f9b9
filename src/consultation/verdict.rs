//! Round 4: the judge answers the question.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{CrossExam, Independent, Synthesis};
use crate::domain::time::Timestamp;

use super::answer::AnswerKind;
use super::calls::Work;
use super::event::{Event, StateName};
use super::judging::{judge_failed, prompt_failed, send_judge};
use super::protocol::Input;
use super::state::State;
use super::turn::Turn;

const ROUND: u8 = 4;

/// The judge is at work on everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct VerdictRound {
    since: Timestamp,
    pub(super) work: Work,
}

pub(super) fn enter(turn: &mut Turn<'_>, independents: &[Independent], synthesis: &Synthesis, cross_exam: &CrossExam) -> State {
    turn.change(StateName::CrossExam, StateName::Verdict);
    turn.begin_round(ROUND);
    match send_judge(turn, AnswerKind::Verdict, |prompter| prompter.verdict(independents, synthesis, cross_exam)) {
        Ok(work) => State::Verdict(VerdictRound { since: turn.now, work }),
        Err(error) => prompt_failed(turn, StateName::Verdict, &error),
    }
}

impl VerdictRound {
    pub(super) fn handle(mut self, turn: &mut Turn<'_>, input: Input) -> State {
        let Some(settled) = self.work.handle(turn, input) else { return State::Verdict(self) };
        match settled.result {
            Ok(answer) => {
                turn.keep(answer.content, answer.degraded);
                turn.end_round(ROUND, self.since);
                turn.change(StateName::Verdict, StateName::Complete);
                let duration_ms = turn.elapsed_ms();
                turn.emit(Event::Completed { rounds: ROUND, duration_ms });
                State::Complete
            }
            Err(error) => judge_failed(turn, StateName::Verdict, AnswerKind::Verdict, &error),
        }
    }
}
