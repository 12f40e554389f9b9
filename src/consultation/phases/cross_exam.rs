//! Round 3: every expert who answered challenges the others and revises its own position, all at
//! once; then the judge merges.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Content, CrossExam, Independent, Revision, Synthesis};
use crate::domain::ids::SeatId;
use crate::domain::time::Timestamp;

use super::comparison;
use super::finishing;
use super::judge::{judge_failed, judged, prompt_failed, send_judge};
use super::prior_answers;
use super::verdict;
use crate::consultation::analysis::compose;
use crate::consultation::analysis::compose::Material;
use crate::consultation::event::{AbortReason, StateName};
use crate::consultation::machine::step::Turn;
use crate::consultation::policy::quorum::{Quorum, quorum};
use crate::consultation::prompt::PromptError;
use crate::consultation::prompt::filter;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::state::State;
use crate::consultation::tasks::Work;
use crate::consultation::tasks::{AgentAnswer as Answer, Brief};

pub(in crate::consultation) const ROUND: u8 = 3;

/// The cross-examination, in its two steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct CrossExamination {
    since: Timestamp,
    pub(in crate::consultation) work: Work,
    independents: Vec<Independent>,
    synthesis: Synthesis,
    step: Step,
    revisions: Vec<Revision>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    /// The experts are at work.
    Examining,
    /// The judge is merging their answers.
    Merging,
}

pub(in crate::consultation) fn enter(
    turn: &mut Turn<'_>,
    independents: Vec<Independent>,
    synthesis: Synthesis,
) -> State {
    turn.change(StateName::Synthesis, StateName::CrossExam);
    turn.begin_round(ROUND);
    if let Some(given) = &turn.plan.course.given {
        let cross_exam = prior_answers::cross_examination(turn, given);
        turn.end_round(ROUND, turn.now);
        return verdict::enter(turn, Work::default(), independents, synthesis, cross_exam);
    }
    let (work, step) = (Work::default(), Step::Examining);
    CrossExamination {
        since: turn.now,
        work,
        independents,
        synthesis,
        step,
        revisions: Vec::new(),
    }
    .examine(turn)
}

impl CrossExamination {
    fn examine(mut self, turn: &mut Turn<'_>) -> State {
        for own in &self.independents {
            let Some(seat) = turn.plan.panel.seat(&own.agent_id) else {
                continue;
            };
            let material = turn.plan.material;
            match Brief::render(turn, &seat.id, |prompter| {
                filter::revision(prompter, material, seat, own, &self.synthesis)
            }) {
                Ok(brief) => self.work.send(turn, &seat.id, AnswerKind::Revision, brief),
                Err(error) => {
                    self.work.cancel(turn, AbortReason::Prompt);
                    return prompt_failed(turn, State::CrossExam(self), &error);
                }
            }
        }
        self.proceed(turn)
    }

    /// Looks at what has been settled.
    pub(in crate::consultation) fn proceed(self, turn: &mut Turn<'_>) -> State {
        match self.step {
            Step::Examining => self.examined(turn),
            Step::Merging => self.merged(turn),
        }
    }

    /// Goes on after an end that was none: a judge that failed is asked again.
    pub(in crate::consultation) fn again(mut self, turn: &mut Turn<'_>) -> State {
        match self.step {
            Step::Merging if !self.work.is_open(&SeatId::judge()) => {
                let sent = self.send_judge(turn);
                self.go_on(turn, sent)
            }
            Step::Examining | Step::Merging => self.proceed(turn),
        }
    }

    /// Experts have answered, or failed: then their Round-1 answers still stand.
    fn examined(mut self, turn: &mut Turn<'_>) -> State {
        for settled in self.work.take_settled() {
            if let Ok(Answer {
                content, degraded, ..
            }) = settled.result
            {
                if let Content::Revision(revision) = &content {
                    self.revisions.push(revision.clone());
                }
                turn.keep(content, degraded);
            }
        }
        // What ends the consultation ends it here: the next step begins when it is gone on with.
        if !self.work.is_done() || turn.is_stopping() {
            return State::CrossExam(self);
        }
        let seats = &turn.plan.panel.seats;
        self.revisions
            .sort_by_key(|revision| seats.iter().position(|seat| seat.id == revision.agent_id));
        match quorum(self.revisions.len()) {
            Quorum::Met => self.merge(turn),
            // Nothing to merge: the verdict rests on Rounds 1 and 2, which are paid for, and the
            // result says who failed.
            Quorum::Nobody => self.end(turn, CrossExam::default(), true),
        }
    }

    /// The judge comes first: where there is room for one call only, it is the one that is waited
    /// for.
    fn merge(mut self, turn: &mut Turn<'_>) -> State {
        self.step = Step::Merging;
        let sent = self.send_judge(turn);
        if sent.is_ok() {
            comparison::send(turn, &mut self.work, &self.independents, &self.revisions);
        }
        self.go_on(turn, sent)
    }

    fn send_judge(&mut self, turn: &mut Turn<'_>) -> Result<(), PromptError> {
        let (revisions, synthesis, material) =
            (&self.revisions, &self.synthesis, turn.plan.material);
        send_judge(turn, &mut self.work, AnswerKind::CrossExam, |prompter| {
            filter::merging(prompter, material, revisions, synthesis)
        })
    }

    fn go_on(self, turn: &mut Turn<'_>, sent: Result<(), PromptError>) -> State {
        match sent {
            Ok(()) => self.merged(turn),
            Err(error) => prompt_failed(turn, State::CrossExam(self), &error),
        }
    }

    fn merged(mut self, turn: &mut Turn<'_>) -> State {
        comparison::keep(turn, &mut self.work);
        let Some(settled) = judged(&mut self.work) else {
            return State::CrossExam(self);
        };
        match settled.result {
            Ok(Answer {
                content: Content::CrossExam(merged),
                degraded,
                ..
            }) => self.end(turn, merged, degraded),
            Ok(Answer { .. }) => self.end(turn, CrossExam::default(), true),
            Err(error) => judge_failed(turn, State::CrossExam(self), AnswerKind::CrossExam, &error),
        }
    }

    fn end(self, turn: &mut Turn<'_>, merged: CrossExam, degraded: bool) -> State {
        let cross_exam = CrossExam {
            positions: self.revisions,
            ..merged
        };
        turn.keep(Content::CrossExam(cross_exam.clone()), degraded);
        turn.end_round(ROUND, self.since);
        if turn.plan.course.rounds.number() <= ROUND {
            let material = Material {
                independents: &self.independents,
                synthesis: &self.synthesis,
                cross_exam: Some(&cross_exam),
            };
            compose::keep(turn, material);
            return finishing::enter(turn, StateName::CrossExam, ROUND, self.work);
        }
        verdict::enter(
            turn,
            self.work,
            self.independents,
            self.synthesis,
            cross_exam,
        )
    }
}
