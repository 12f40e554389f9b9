//! Round 2: the judge says what the experts agree on and where they differ.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::Independent;
use crate::domain::time::Timestamp;

use super::answer::AnswerKind;
use super::calls::Work;
use super::cross_exam;
use super::event::StateName;
use super::filtering::Shown;
use super::judging::{judge_failed, judged, prompt_failed, send_judge};
use super::state::State;
use super::turn::Turn;

pub(super) const ROUND: u8 = 2;

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
    SynthesisRound { since: turn.now, work: Work::default(), independents }.send(turn)
}

impl SynthesisRound {
    fn send(mut self, turn: &mut Turn<'_>) -> State {
        let independents = &self.independents;
        let sent = send_judge(turn, &mut self.work, AnswerKind::Synthesis, |prompter| prompter.synthesis(independents).map(Shown::whole));
        match sent {
            Ok(()) => self.proceed(turn),
            Err(error) => prompt_failed(turn, State::Synthesis(self), &error),
        }
    }

    /// Looks at what the judge has answered, if it has.
    pub(super) fn proceed(mut self, turn: &mut Turn<'_>) -> State {
        let Some(settled) = judged(&mut self.work) else { return State::Synthesis(self) };
        match settled.result {
            Ok(answer) => {
                turn.keep(answer.content.clone(), answer.degraded);
                turn.end_round(ROUND, self.since);
                let synthesis = answer.content.synthesis().cloned().unwrap_or_default();
                cross_exam::enter(turn, self.independents, synthesis)
            }
            Err(error) => judge_failed(turn, State::Synthesis(self), AnswerKind::Synthesis, &error),
        }
    }

    /// Goes on after an end that was none: a judge that failed is asked again.
    pub(super) fn again(self, turn: &mut Turn<'_>) -> State {
        if self.work.is_done() { self.send(turn) } else { self.proceed(turn) }
    }
}
