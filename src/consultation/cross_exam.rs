//! Round 3: every expert who answered challenges the others and revises its own position, all at once; then the judge merges.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Content, CrossExam, Independent, Revision, Synthesis};
use crate::domain::time::Timestamp;

use super::answer::AnswerKind;
use super::calls::Work;
use super::errand::{Answer, Candidate, Settled};
use super::event::{AbortReason, StateName};
use super::judging::{judge_failed, prompt_failed, send_judge};
use super::policy::quorum::{Quorum, quorum};
use super::protocol::Input;
use super::state::State;
use super::turn::Turn;
use super::verdict;

const ROUND: u8 = 3;

/// The cross-examination, in its two steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CrossExamination {
    since: Timestamp,
    pub(super) work: Work,
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

pub(super) fn enter(turn: &mut Turn<'_>, independents: Vec<Independent>, synthesis: Synthesis) -> State {
    turn.change(StateName::Synthesis, StateName::CrossExam);
    turn.begin_round(ROUND);
    let mut work = Work::default();
    let labels = turn.plan.labels();
    for own in &independents {
        let Some(seat) = turn.plan.panel.seat(&own.agent_id) else { continue };
        match turn.plan.prompter(&labels, &seat.model).revision(seat, own, &synthesis) {
            Ok(prompt) => work.send(turn, &seat.id, AnswerKind::Revision, vec![Candidate { model: seat.model.clone(), prompt }]),
            Err(error) => {
                work.cancel(turn, AbortReason::Prompt);
                return prompt_failed(turn, StateName::CrossExam, &error);
            }
        }
    }
    State::CrossExam(CrossExamination { since: turn.now, work, independents, synthesis, step: Step::Examining, revisions: Vec::new() })
}

impl CrossExamination {
    pub(super) fn handle(mut self, turn: &mut Turn<'_>, input: Input) -> State {
        let Some(settled) = self.work.handle(turn, input) else { return State::CrossExam(self) };
        match self.step {
            Step::Examining => self.examined(turn, settled),
            Step::Merging => self.merged(turn, settled),
        }
    }

    /// An expert has answered, or failed: then its Round-1 answer still stands.
    fn examined(mut self, turn: &mut Turn<'_>, settled: Settled) -> State {
        if let Ok(Answer { content, degraded }) = settled.result {
            if let Content::Revision(revision) = &content {
                self.revisions.push(revision.clone());
            }
            turn.keep(content, degraded);
        }
        if !self.work.is_done() {
            return State::CrossExam(self);
        }
        let seats = &turn.plan.panel.seats;
        self.revisions.sort_by_key(|revision| seats.iter().position(|seat| seat.id == revision.agent_id));
        match quorum(self.revisions.len()) {
            Quorum::Met => {
                let (revisions, synthesis) = (&self.revisions, &self.synthesis);
                match send_judge(turn, AnswerKind::CrossExam, |prompter| prompter.cross_exam(revisions, synthesis)) {
                    Ok(work) => State::CrossExam(Self { work, step: Step::Merging, ..self }),
                    Err(error) => prompt_failed(turn, StateName::CrossExam, &error),
                }
            }
            // Nothing to merge: the verdict rests on Rounds 1 and 2, which are paid for, and the result says who failed.
            Quorum::Nobody => self.end(turn, CrossExam::default(), true),
        }
    }

    fn merged(self, turn: &mut Turn<'_>, settled: Settled) -> State {
        match settled.result {
            Ok(Answer { content: Content::CrossExam(merged), degraded }) => self.end(turn, merged, degraded),
            Ok(Answer { .. }) => self.end(turn, CrossExam::default(), true),
            Err(error) => judge_failed(turn, StateName::CrossExam, AnswerKind::CrossExam, &error),
        }
    }

    fn end(self, turn: &mut Turn<'_>, merged: CrossExam, degraded: bool) -> State {
        let cross_exam = CrossExam { positions: self.revisions, ..merged };
        turn.keep(Content::CrossExam(cross_exam.clone()), degraded);
        turn.end_round(ROUND, self.since);
        verdict::enter(turn, &self.independents, &self.synthesis, &cross_exam)
    }
}
