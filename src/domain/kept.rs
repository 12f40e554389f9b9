//! A consultation as its record tells it, whichever version or program wrote it. Of all this only
//! the id must be there: what a record does not tell is empty or `None`, never zero.

use std::time::Duration;

use super::artifact::{Challenge, CrossExam, Independent, Rebuttal, Revision, Synthesis, Verdict};
use super::confidence::Confidence;
use super::debate_value::DebateValue;
use super::ids::{ConsultationId, ModelRef, ProviderId, SeatId};
use super::money::{Cost, MicroUsd};
use super::outcome::Grade;
use super::second_pass::{Held, SecondPass};
use super::time::Timestamp;

/// Who wrote a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writer {
    /// This program, in this or an earlier version.
    #[default]
    Conclave,
    /// The original `llm-conclave`, which shares the home.
    LlmConclave,
}

impl Writer {
    pub fn name(self) -> &'static str {
        match self {
            Self::Conclave => "conclave",
            Self::LlmConclave => "llm-conclave",
        }
    }
}

/// How a consultation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ended {
    Completed,
    Aborted,
    /// Neither: its process is gone, or still at it.
    Unfinished,
}

impl Ended {
    /// How one ended that is in this state, as it is written.
    pub fn of_state(state: &str) -> Self {
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

/// One consultation, read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    pub writer: Writer,
    pub schema_version: Option<String>,
    pub id: String,
    pub at: Option<Timestamp>,
    pub question: String,
    pub mode: Option<String>,
    /// The state as it is written: `Complete`, `Aborted`, or where it stood when its process ended.
    pub state: Option<String>,
    /// `complete`, `degraded`, `aborted`, or a word of another version.
    pub status: Option<String>,
    pub degradations: Vec<String>,
    pub experts: Vec<StoredAgent>,
    pub judge: Option<ModelRef>,
    /// How the personas were chosen for the question; `None` where they were given.
    pub casting: Option<StoredPersonaSelection>,
    pub independents: Vec<Independent>,
    pub synthesis: Option<Synthesis>,
    pub revisions: Vec<Revision>,
    pub cross_exam: Option<CrossExam>,
    pub verdict: Option<Verdict>,
    /// What is said as the answer; without a verdict nothing.
    pub recommendation: Option<String>,
    pub summary: Option<String>,
    pub confidence: Option<Confidence>,
    pub agreement: Option<f64>,
    pub concerns: Vec<String>,
    /// What was found before it ended without a verdict.
    pub partial_consensus: Option<String>,
    pub rounds: Vec<StoredRound>,
    pub work: Vec<Work>,
    pub cost: Option<Cost>,
    pub tokens: Option<u64>,
    pub by_provider: Vec<(ProviderId, Cost)>,
    pub duration: Option<Duration>,
    pub abort_reason: Option<String>,
    pub abort_message: Option<String>,
    /// Where it stood when it was aborted.
    pub aborted_during: Option<String>,
    /// It ended after Round 2, because Rounds 3 and 4 promised nothing new.
    pub early_end: Option<EarlyEnd>,
    /// What the record itself counts of changed minds; of a record of ours the revisions tell.
    pub debate: Option<StoredDebate>,
    /// What the debate was worth, as this program works it out.
    pub debate_value: Option<DebateValue>,
    /// What came of asking the judge twice; `None` when it was asked once.
    pub second_pass: Option<SecondPass>,
    /// Whether the earlier verdict held, where answers were judged anew.
    pub rejudged: Option<Held>,
    /// The consultation whose answers were judged anew here.
    pub rejudged_from: Option<String>,
    /// The seats in the order in which they were `Expert A`, `Expert B`, …; empty where experts
    /// went by their own names.
    pub expert_order: Vec<SeatId>,
    /// Of the project that was asked about: `brownfield` or `greenfield`.
    pub project_type: Option<String>,
    /// Prompt template versions in force, by name.
    pub prompt_versions: Vec<(String, String)>,
    pub tool_version: Option<String>,
    /// What the user has said became of the answer. It is in no record: whoever reads one brings
    /// it.
    pub grade: Option<Grade>,
}

/// One seat of the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAgent {
    pub id: SeatId,
    pub name: String,
    pub model: Option<ModelRef>,
}

/// The choice of the personas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPersonaSelection {
    pub task_type: String,
    pub reason: String,
    /// The model that chose; `None` when the usual personas sat.
    pub chosen_by: Option<ModelRef>,
    pub notes: Vec<String>,
}

/// One round that had begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRound {
    pub number: u8,
    pub is_complete: bool,
    pub duration: Option<Duration>,
}

/// What one agent did in one round.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    pub round: u8,
    pub agent: SeatId,
    pub name: String,
    pub model: Option<ModelRef>,
    pub served_model: Option<String>,
    pub tokens: Option<u64>,
    pub cost: Option<Cost>,
    pub first_token: Option<Duration>,
    pub duration: Option<Duration>,
    pub attempts: usize,
    /// Why there is no answer.
    pub error: Option<String>,
}

/// Why it ended after Round 2, and what the rounds that were left out would have cost, as
/// estimated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyEnd {
    pub reason: Option<String>,
    pub saved: Option<MicroUsd>,
}

/// What the experts held at the end against the beginning, as a record counts it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredDebate {
    /// Experts that were heard at the end; of these, those that held something else than at the
    /// beginning.
    pub experts: u64,
    pub changed: u64,
    /// How much surer each expert was at the end than at the beginning, where both are told.
    pub rises: Vec<f64>,
}

impl Kept {
    pub fn ended(&self) -> Ended {
        // `partial` is what the original calls a consultation that was cancelled or failed; its
        // state is then where it stood.
        match self.status.as_deref() {
            Some("partial" | "aborted") => Ended::Aborted,
            Some(_) | None => self
                .state
                .as_deref()
                .map_or(Ended::Unfinished, Ended::of_state),
        }
    }

    /// The name of a seat; text that names no seat is returned as it is.
    pub fn name_of<'a>(&'a self, agent: &'a str) -> &'a str {
        self.experts
            .iter()
            .find(|expert| expert.id.as_str() == agent)
            .map_or(agent, |expert| expert.name.as_str())
    }

    /// What was challenged in Round 3, as the judge merged it, else as each expert said it.
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

    /// What was answered to that.
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

    /// The agent that a person means: the judge, the clerk, or a seat by its id or its name, in any
    /// letters.
    pub fn agent_called(&self, text: &str) -> Option<SeatId> {
        let text = text.trim();
        let is_meant = |name: &str| name.to_lowercase() == text.to_lowercase();
        let exact = self
            .experts
            .iter()
            .find(|expert| expert.id.as_str() == text);
        let found = exact.or_else(|| {
            self.experts
                .iter()
                .find(|expert| is_meant(expert.id.as_str()) || is_meant(&expert.name))
        });
        found.map(|expert| expert.id.clone()).or_else(|| {
            [SeatId::judge(), SeatId::helper()]
                .into_iter()
                .find(|beside| is_meant(beside.as_str()))
        })
    }

    /// The id as commands take it, where it has our form.
    pub fn consultation_id(&self) -> Option<ConsultationId> {
        self.id
            .strip_prefix("consult-")
            .map(ConsultationId::from_unique)
    }
}
