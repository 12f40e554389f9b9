//! A consultation as read from its record, in any format. Only the id is required: missing values
//! are empty or `None`, never zero.

use std::time::Duration;

use super::artifact::{Challenge, CrossExam, Independent, Rebuttal, Revision, Synthesis, Verdict};
use super::confidence::Confidence;
use super::debate_value::DebateValue;
use super::ids::{AgentId, ConsultationId, ModelRef, ProviderId, SeatId};
use super::money::{Cost, MicroUsd};
use super::outcome::Grade;
use super::second_pass::{Held, SecondPass};
use super::time::Timestamp;

/// The program that wrote a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordWriter {
    /// This program, in this or an earlier version.
    #[default]
    Conclave,
    /// The original `llm-conclave`, which shares the home.
    LlmConclave,
}

impl RecordWriter {
    pub fn name(self) -> &'static str {
        match self {
            Self::Conclave => "conclave",
            Self::LlmConclave => "llm-conclave",
        }
    }
}

/// Whether a consultation ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Completion {
    Completed,
    Aborted,
    /// Neither completed nor aborted: the process was killed or is still running.
    Unfinished,
}

impl Completion {
    /// Returns the completion for a recorded state.
    pub fn from_state(state: &str) -> Self {
        if state.eq_ignore_ascii_case("complete") {
            Self::Completed
        } else if state.eq_ignore_ascii_case("aborted") {
            Self::Aborted
        } else {
            Self::Unfinished
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Aborted => "aborted",
            Self::Unfinished => "unfinished",
        }
    }
}

/// One consultation, read back from its record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredRecord {
    pub writer: RecordWriter,
    pub schema_version: Option<String>,
    pub id: String,
    pub at: Option<Timestamp>,
    pub question: String,
    pub mode: Option<String>,
    /// The recorded state: `Complete`, `Aborted`, or the phase that was running when the process
    /// ended.
    pub state: Option<String>,
    /// `complete`, `degraded`, `aborted`, or a status of another version.
    pub status: Option<String>,
    pub degradations: Vec<String>,
    pub experts: Vec<StoredAgent>,
    pub judge: Option<ModelRef>,
    /// The selection of the personas; `None` if the user named them.
    pub persona_selection: Option<StoredPersonaSelection>,
    pub independents: Vec<Independent>,
    pub synthesis: Option<Synthesis>,
    pub revisions: Vec<Revision>,
    pub cross_exam: Option<CrossExam>,
    pub verdict: Option<Verdict>,
    /// The answer; `None` without a verdict.
    pub recommendation: Option<String>,
    pub summary: Option<String>,
    pub confidence: Option<Confidence>,
    pub agreement: Option<f64>,
    pub concerns: Vec<String>,
    /// The points on which the panel agreed if the consultation ended without a verdict.
    pub partial_consensus: Option<String>,
    pub rounds: Vec<StoredRound>,
    pub agent_rounds: Vec<StoredAgentRound>,
    pub cost: Option<Cost>,
    pub tokens: Option<u64>,
    pub by_provider: Vec<(ProviderId, Cost)>,
    pub duration: Option<Duration>,
    pub abort_reason: Option<String>,
    pub abort_message: Option<String>,
    /// The phase that was running at the abort.
    pub aborted_during: Option<String>,
    /// Set when the consultation ended after Round 2 because the experts agreed.
    pub early_termination: Option<StoredEarlyTermination>,
    /// Changes of position as counted in the record; `None` in our own records, where the revisions
    /// state them.
    pub debate: Option<StoredDebate>,
    /// The value of the debate as computed by this program.
    pub debate_value: Option<DebateValue>,
    /// The judge's second pass; `None` when the judge was asked once.
    pub second_pass: Option<SecondPass>,
    /// Whether the earlier verdict held, if prior answers were rejudged.
    pub rejudged: Option<Held>,
    /// The consultation whose answers were rejudged here.
    pub rejudged_from: Option<String>,
    /// The seats in the order of their labels `Expert A`, `Expert B`, …; empty if they were shown
    /// by name.
    pub expert_order: Vec<SeatId>,
    /// `brownfield` or `greenfield`.
    pub project_type: Option<String>,
    /// Versions of the prompt templates, by name.
    pub prompt_versions: Vec<(String, String)>,
    pub tool_version: Option<String>,
    /// The user's grade of the answer. The caller reads it from its separate file.
    pub grade: Option<Grade>,
}

/// One seat of the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAgent {
    pub id: SeatId,
    pub name: String,
    pub model: Option<ModelRef>,
}

/// The persona selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPersonaSelection {
    pub task_type: String,
    pub reason: String,
    /// The helper model that chose; `None` when the default personas were used.
    pub chosen_by: Option<ModelRef>,
    pub notes: Vec<String>,
}

/// One round that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRound {
    pub number: u8,
    pub is_complete: bool,
    pub duration: Option<Duration>,
}

/// One agent's work in one round.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAgentRound {
    pub round: u8,
    pub agent: AgentId,
    pub name: String,
    pub model: Option<ModelRef>,
    pub served_model: Option<String>,
    pub tokens: Option<u64>,
    pub cost: Option<Cost>,
    pub first_token: Option<Duration>,
    pub duration: Option<Duration>,
    pub attempts: usize,
    /// The reason why there is no answer.
    pub error: Option<String>,
}

/// The reason why a consultation ended after Round 2, and the estimated cost of the skipped rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredEarlyTermination {
    pub reason: Option<String>,
    pub saved: Option<MicroUsd>,
}

/// Changes of position between the first and the last round, as counted in a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredDebate {
    /// Experts that answered in the last round.
    pub experts: u64,
    /// Those of them whose position changed.
    pub changed: u64,
    /// The rise in confidence of each expert that stated one in both rounds.
    pub rises: Vec<f64>,
}

impl StoredRecord {
    pub fn completion(&self) -> Completion {
        // The original marks cancelled and failed consultations `partial`; their state is the phase
        // that was running.
        match self.status.as_deref() {
            Some("partial" | "aborted") => Completion::Aborted,
            Some(_) | None => self
                .state
                .as_deref()
                .map_or(Completion::Unfinished, Completion::from_state),
        }
    }

    /// Returns the name of a seat; text that is no seat's id is returned unchanged.
    pub fn name_of<'a>(&'a self, agent: &'a str) -> &'a str {
        self.experts
            .iter()
            .find(|expert| expert.id.as_str() == agent)
            .map_or(agent, |expert| expert.name.as_str())
    }

    /// Returns the challenges of Round 3: those merged by the judge, else those of the experts.
    pub fn challenges(&self) -> Vec<&Challenge> {
        match &self.cross_exam {
            Some(merged) => merged.challenges.iter().collect(),
            None => self
                .revisions
                .iter()
                .flat_map(|revision| &revision.challenges)
                .collect(),
        }
    }

    /// Returns the rebuttals to these challenges.
    pub fn rebuttals(&self) -> Vec<&Rebuttal> {
        match &self.cross_exam {
            Some(merged) => merged.rebuttals.iter().collect(),
            None => self
                .revisions
                .iter()
                .flat_map(|revision| &revision.rebuttals)
                .collect(),
        }
    }

    /// Returns the agent that a user's text names: the judge, the helper, or a seat by its id or
    /// name, ignoring case.
    pub fn agent_named(&self, text: &str) -> Option<AgentId> {
        let text = text.trim();
        let is_meant = |name: &str| name.to_lowercase() == text.to_lowercase();
        let exact = self
            .experts
            .iter()
            .find(|expert| expert.id.as_str() == text);
        let seat = exact.or_else(|| {
            self.experts
                .iter()
                .find(|expert| is_meant(expert.id.as_str()) || is_meant(&expert.name))
        });
        seat.map(|expert| AgentId::from(&expert.id)).or_else(|| {
            [AgentId::Judge, AgentId::Helper]
                .into_iter()
                .find(|agent| is_meant(agent.as_str()))
        })
    }

    /// Returns the id for commands; `None` if it does not have our form.
    pub fn consultation_id(&self) -> Option<ConsultationId> {
        self.id
            .strip_prefix("consult-")
            .map(ConsultationId::from_unique)
    }
}
