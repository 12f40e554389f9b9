//! The transcript of a consultation, folded from its event log; the source of record, Markdown and
//! JSON.
//!
//! Invariant: the same events give the same transcript, live or from a journal.

mod fold;
pub mod summary;
pub mod spend;
pub mod no_answer;
mod stored_record;
pub(crate) mod debate_value;
pub mod trace;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::answer::artifact::{
    Artifact, Content, CrossExam, Independent, ProvisionalAnswer, Revision, Synthesis, Verdict,
};
use crate::domain::answer::second_pass::{Held, SecondPass};
use crate::domain::ids::{ConsultationId, ProviderId, SeatId};
use crate::domain::panel::Seat;
use crate::domain::record::stored_record::StoredHedge;
use crate::domain::time::Timestamp;

use super::event::{
    Abort, AgentFailure, CallFinished, CallStarted, CeilingReached, EarlyTerminationDecision,
    PanelSelection, Started, StateName, Substitution,
};
use crate::consultation::policy::estimate::{Consent, Estimate};

/// The content of one consultation's events.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    pub id: ConsultationId,
    pub started_at: Timestamp,
    /// The last event's time.
    pub last_at: Timestamp,
    pub terms: Started,
    pub estimate: Option<Estimate>,
    pub consent: Option<(bool, Consent)>,
    pub state: StateName,
    pub artifacts: Vec<Artifact>,
    /// The result of the judge's second pass; `None` without one, or before it is decided.
    pub second_pass: Option<SecondPass>,
    /// Whether the verdict of the earlier consultation held when its answers were judged again;
    /// `None` if there is none to compare with.
    pub rejudged: Option<Held>,
    /// Finished calls, in the order of their ends.
    pub calls: Vec<CallFinished>,
    pub lost_calls: Vec<CallStarted>,
    /// Tokens saved by filtering in the prompts of finished calls. A prompt that was never
    /// processed, as in a refused call, saves nothing.
    pub(super) tokens_saved: u64,
    pub failures: Vec<AgentFailure>,
    pub substitutions: Vec<Substitution>,
    pub hedges: Vec<StoredHedge>,
    /// The last call that the ceiling did not allow.
    pub ceiling: Option<CeilingReached>,
    /// The end of the last backoff that each provider asked for.
    pub held_until: BTreeMap<ProviderId, Timestamp>,
    /// Finished rounds, with their durations.
    pub rounds: Vec<(u8, Duration)>,
    /// The decision on an early end after Round 2; `None` if there was none.
    pub early_end: Option<EarlyTerminationDecision>,
    /// The selection of personas for the question; `None` if the user named them or they are not
    /// selected yet.
    pub persona_selection: Option<PanelSelection>,
    /// The abort; `None` again after a resume.
    pub abort: Option<Abort>,
    /// From the first event to the last, without the time between an interruption and its resume,
    /// and without the time in which only the person was waited for.
    pub duration: Duration,
    /// The time in which only the person was waited for.
    pub waited_for_person: Duration,
    paused: Duration,
}

impl Transcript {
    fn seat(&self, id: &str) -> Option<&Seat> {
        let mut seats = self.terms.panel.seats.iter();
        seats.find(|seat| seat.id.as_str() == id)
    }

    /// Text that is not a seat's id is returned unchanged.
    pub fn agent_name<'a>(&'a self, agent: &'a str) -> &'a str {
        self.seat(agent).map_or(agent, Seat::name)
    }

    fn contents(&self) -> impl Iterator<Item = &Content> {
        self.artifacts.iter().map(|artifact| &artifact.content)
    }

    pub fn independents(&self) -> impl Iterator<Item = &Independent> {
        self.contents().filter_map(Content::independent)
    }

    fn independent(&self, agent: &SeatId) -> Option<&Independent> {
        self.independents().find(|held| held.agent_id == *agent)
    }

    pub fn revisions(&self) -> impl Iterator<Item = &Revision> {
        self.contents().filter_map(Content::revision)
    }

    fn revision(&self, agent: &SeatId) -> Option<&Revision> {
        self.revisions().find(|held| held.agent_id == *agent)
    }

    pub fn synthesis(&self) -> Option<&Synthesis> {
        self.contents().find_map(Content::synthesis)
    }

    pub fn cross_exam(&self) -> Option<&CrossExam> {
        self.contents().find_map(Content::cross_exam)
    }

    pub fn verdict(&self) -> Option<&Verdict> {
        self.contents().find_map(Content::verdict)
    }

    /// Returns the judge's last answer without a verdict, and its round.
    fn provisional_answer(&self) -> Option<(u8, &ProvisionalAnswer)> {
        let given = self.contents().filter_map(Content::provisional_answer);
        given.last().filter(|_| self.verdict().is_none())
    }
}
