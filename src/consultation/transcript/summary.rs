//! Facts that every face and the record derive from a transcript: status, judge, objections,
//! missing rounds. Computed in one place, so that screen, Markdown and JSON agree.

use serde::Serialize;

use crate::consultation::plan::Plan;
use crate::domain::context::Context;
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::money::Cost;
use crate::domain::panel::Seat;

use super::Transcript;
use crate::consultation::event::{AbortReason, StateName};

/// The status of a consultation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A complete result.
    Complete,
    /// A result with a missing seat or an unreadable answer.
    Degraded,
    /// Ended without a result.
    Aborted,
    /// Its cost was not agreed to: nothing was asked or spent.
    Declined,
    /// The log ends before the consultation: it is still running, or its process was killed.
    Incomplete,
}

impl Transcript {
    pub fn status(&self) -> Status {
        match self.state {
            StateName::Aborted if self.is_declined() => Status::Declined,
            StateName::Aborted => Status::Aborted,
            StateName::Complete if self.degradations().is_empty() => Status::Complete,
            StateName::Complete => Status::Degraded,
            StateName::Idle
            | StateName::Estimating
            | StateName::AwaitingConsent
            | StateName::Independent
            | StateName::Synthesis
            | StateName::CrossExam
            | StateName::Verdict => Status::Incomplete,
        }
    }

    /// Returns whether its cost was not agreed to.
    fn is_declined(&self) -> bool {
        self.abort
            .as_ref()
            .is_some_and(|abort| abort.reason == AbortReason::Declined)
    }

    /// Returns the model that gave the judge's last answer; before that, the first judge.
    pub fn judge(&self) -> Option<&ModelRef> {
        let answered = self
            .calls
            .iter()
            .rev()
            .find(|call| call.agent_id == AgentId::Judge && call.error.is_none());
        answered
            .map(|call| &call.model)
            .or_else(|| self.terms.panel.judges.first())
    }

    /// Returns the model of a seat: the last fallback that took over, else the original one.
    pub fn player<'a>(&'a self, seat: &'a Seat) -> &'a ModelRef {
        let taken_over = self
            .substitutions
            .iter()
            .rev()
            .find(|substitution| substitution.agent_id == seat.id);
        taken_over.map_or(&seat.model, |substitution| &substitution.substitute)
    }

    /// Returns the number of planned rounds: the last that the estimate covers, four without an
    /// estimate.
    pub fn planned_rounds(&self) -> u8 {
        let estimated = self
            .estimate
            .iter()
            .flat_map(|estimate| &estimate.calls)
            .map(|call| call.round_number)
            .max();
        estimated.unwrap_or(4)
    }

    /// Returns the numbers of the finished rounds.
    pub fn completed_rounds(&self) -> Vec<u8> {
        self.rounds.iter().map(|(number, _)| *number).collect()
    }

    /// Returns the numbers of the planned rounds that did not finish; empty for a complete
    /// consultation.
    pub fn incomplete_rounds(&self) -> Vec<u8> {
        let completed = self.completed_rounds();
        let planned = if self.state == StateName::Complete {
            0
        } else {
            self.planned_rounds()
        };
        (1..=planned)
            .filter(|number| !completed.contains(number))
            .collect()
    }

    /// Returns whether anything would be lost without a resume: an answer, or what was paid.
    pub fn has_progress(&self) -> bool {
        let is_answered = self.calls.iter().any(|call| call.error.is_none());
        is_answered || self.total().cost != Cost::FREE
    }

    /// Returns whether it can be resumed, judged by its log: it has its terms and has not ended for
    /// good.
    pub fn is_resumable(&self) -> bool {
        let ended = match &self.abort {
            Some(abort) => !abort.reason.is_resumable(),
            None => self.state == StateName::Complete,
        };
        let has_context = |plan: &Plan| plan.context.as_deref().is_none_or(Context::is_stored);
        self.terms.plan.as_deref().is_some_and(has_context) && !ended
    }

    /// Returns the consensus after Round 2 in words, for a consultation without a verdict.
    pub fn partial_consensus(&self) -> Option<String> {
        let synthesis = self.synthesis()?;
        let points: Vec<&str> = synthesis
            .consensus_points
            .iter()
            .map(|point| point.point.as_str())
            .collect();
        let text = if points.is_empty() {
            synthesis.prose_excerpt.clone()
        } else {
            points.join("\n")
        };
        (!text.trim().is_empty()).then_some(text)
    }
}
