//! Round 2: the judge says what the experts agree on and where they differ.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::Independent;
use crate::domain::time::Timestamp;

use super::early_termination;
use super::early_termination::Found;
use super::judge::{judge_failed, judged, prompt_failed, send_judge};
use crate::consultation::event::{EarlyTermination, StateName};
use crate::consultation::machine::step::StepContext;
use crate::consultation::prompt::filter::Shown;
use crate::consultation::protocol::Answer;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::state::State;
use crate::consultation::tasks::AnswerSource;
use crate::consultation::tasks::TaskSet;

pub(in crate::consultation) const ROUND: u8 = 2;

/// Round 2, in its two steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) enum SynthesisRound {
    /// The judge is at work on Round 1's answers.
    Judging(Judging),
    /// It has answered, and whether to go on is open: the person is asked, or the consultation was
    /// stopped.
    Judged(Box<Found>),
}

/// The judge at work, and what it was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct Judging {
    since: Timestamp,
    work: TaskSet,
    answers: Answers,
}

/// What Round 1 has brought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct Answers {
    pub(in crate::consultation) independents: Vec<Independent>,
    pub(in crate::consultation) voices: Vec<AnswerSource>,
    /// Seats that failed, or whose answer could only be read as prose.
    pub(in crate::consultation) troubled: usize,
}

pub(in crate::consultation) fn enter(step: &mut StepContext<'_>, answers: Answers) -> State {
    step.change(StateName::Independent, StateName::Synthesis);
    step.begin_round(ROUND);
    Judging {
        since: step.now,
        work: TaskSet::default(),
        answers,
    }
    .send(step)
}

impl SynthesisRound {
    pub(in crate::consultation) fn work(&mut self) -> Option<&mut TaskSet> {
        match self {
            Self::Judging(judging) => Some(&mut judging.work),
            Self::Judged(_) => None,
        }
    }

    pub(in crate::consultation) fn proceed(self, step: &mut StepContext<'_>) -> State {
        match self {
            Self::Judging(judging) => judging.proceed(step),
            Self::Judged(_) => State::Synthesis(self),
        }
    }

    /// Goes on after an end that was none: a judge that failed is asked again, and so is the
    /// person.
    pub(in crate::consultation) fn again(self, step: &mut StepContext<'_>) -> State {
        match self {
            Self::Judging(judging) if judging.work.is_done() => judging.send(step),
            Self::Judging(judging) => judging.proceed(step),
            Self::Judged(found) => early_termination::decide(step, *found),
        }
    }

    /// The person has answered whether to end here.
    pub(in crate::consultation) fn answered(
        self,
        step: &mut StepContext<'_>,
        findings: EarlyTermination,
        answer: Answer,
    ) -> State {
        match self {
            Self::Judging(_) => State::Synthesis(self),
            Self::Judged(found) => early_termination::answered(step, *found, findings, answer),
        }
    }
}

impl Judging {
    fn send(mut self, step: &mut StepContext<'_>) -> State {
        let independents = &self.answers.independents;
        let sent = send_judge(step, &mut self.work, AnswerKind::Synthesis, |prompter| {
            prompter.synthesis(independents).map(Shown::whole)
        });
        match sent {
            Ok(()) => self.proceed(step),
            Err(error) => prompt_failed(step, self.into_state(), &error),
        }
    }

    /// Looks at what the judge has answered, if it has.
    fn proceed(mut self, step: &mut StepContext<'_>) -> State {
        let Some(outcome) = judged(&mut self.work) else {
            return self.into_state();
        };
        match outcome.result {
            Ok(answer) => {
                step.keep(answer.content.clone(), answer.degraded);
                step.end_round(ROUND, self.since);
                let Answers {
                    independents,
                    voices,
                    troubled,
                } = self.answers;
                let synthesis = answer.content.synthesis().cloned().unwrap_or_default();
                let troubled = troubled + usize::from(answer.degraded);
                early_termination::decide(
                    step,
                    Found {
                        independents,
                        voices,
                        synthesis,
                        judge: answer.source,
                        troubled,
                    },
                )
            }
            Err(error) => judge_failed(step, self.into_state(), AnswerKind::Synthesis, &error),
        }
    }

    fn into_state(self) -> State {
        State::Synthesis(SynthesisRound::Judging(self))
    }
}
