//! Round 2: the judge says what the experts agree on and where they differ.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Content, Independent, Synthesis};
use crate::domain::time::Timestamp;

use super::answer::AnswerKind;
use super::calls::Work;
use super::cross_exam;
use super::event::StateName;
use super::judging::{judge_failed, prompt_failed, send_judge};
use super::protocol::Input;
use super::state::State;
use super::turn::Turn;

const ROUND: u8 = 2;

/// The judge is at work on Round 1's answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SynthesisRound {
    since: Timestamp,
    pub(super) work: Work,
    independents: Vec<Independent>,
}

pub(super) fn enter(turn: &mut Turn<'_>, independents: Vec<Independent>) -> State {
    turn.change(StateName::Independent, StateName::Synthesis);
    turn.begin_round(ROUND);
    match send_judge(turn, AnswerKind::Synthesis, |prompter| prompter.synthesis(&independents)) {
        Ok(work) => State::Synthesis(SynthesisRound { since: turn.now, work, independents }),
        Err(error) => prompt_failed(turn, StateName::Synthesis, &error),
    }
}

impl SynthesisRound {
    pub(super) fn handle(mut self, turn: &mut Turn<'_>, input: Input) -> State {
        let Some(settled) = self.work.handle(turn, input) else { return State::Synthesis(self) };
        match settled.result {
            Ok(answer) => {
                turn.keep(answer.content.clone(), answer.degraded);
                turn.end_round(ROUND, self.since);
                let synthesis = match answer.content {
                    Content::Synthesis(synthesis) => synthesis,
                    Content::Independent(_) | Content::Revision(_) | Content::CrossExam(_) | Content::Verdict(_) => Synthesis::default(),
                };
                cross_exam::enter(turn, self.independents, synthesis)
            }
            Err(error) => judge_failed(turn, StateName::Synthesis, AnswerKind::Synthesis, &error),
        }
    }
}
