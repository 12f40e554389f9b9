//! The list of past consultations: plain data, which is also its JSON.

use serde::Serialize;

use super::ids::ConsultationId;
use super::outcome::AnswerOutcome;
use super::stored_record::{Amount, Completion};
use super::time::Timestamp;

/// Past consultations, newest first.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    pub schema_version: &'static str,
    /// All consultations that match; the newest of them are listed.
    pub total: u64,
    pub consultations: Vec<HistoryRow>,
}

/// One consultation.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryRow {
    pub consultation_id: ConsultationId,
    /// The shortest prefix that commands accept now.
    pub short_id: String,
    pub timestamp: Timestamp,
    pub question: String,
    pub mode: Option<String>,
    #[serde(rename = "standing")]
    pub run_status: RunStatus,
    /// As recorded.
    pub state: Option<String>,
    pub status: Option<String>,
    /// `conclave resume` accepts it.
    pub resumable: bool,
    pub recommendation: Option<String>,
    pub confidence: Option<f64>,
    pub cost: Option<Amount>,
    pub total_tokens: Option<u64>,
    pub duration_ms: Option<u64>,
    pub abort_reason: Option<String>,
    pub outcome: Option<EntryOutcome>,
    /// The embedded model played a seat or the judge.
    pub demonstration: bool,
    /// The consultation that the question follows up.
    pub follow_up_of: Option<String>,
    /// The consultations that follow this one up.
    pub follow_ups: Vec<String>,
}

/// The state of a consultation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Completed,
    Aborted,
    /// Its estimated cost was not agreed to.
    Declined,
    /// Its process ended before it did.
    Unfinished,
    /// A process is working on it.
    Running,
}

/// The grade of its answer.
#[derive(Clone, Debug, Serialize)]
pub struct EntryOutcome {
    pub outcome: AnswerOutcome,
    pub note: Option<String>,
}

impl RunStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Aborted => "aborted",
            Self::Declined => "declined",
            Self::Unfinished => "unfinished",
            Self::Running => "running",
        }
    }
}

impl From<Completion> for RunStatus {
    fn from(completion: Completion) -> Self {
        match completion {
            Completion::Completed => Self::Completed,
            Completion::Aborted => Self::Aborted,
            Completion::Declined => Self::Declined,
            Completion::Unfinished => Self::Unfinished,
        }
    }
}

impl HistoryRow {
    /// Returns a row of which only the start is known.
    pub fn started(
        consultation_id: ConsultationId,
        timestamp: Timestamp,
        question: String,
        mode: Option<String>,
        run_status: RunStatus,
    ) -> Self {
        Self {
            short_id: consultation_id.to_string(),
            consultation_id,
            timestamp,
            question,
            mode,
            run_status,
            state: None,
            status: None,
            resumable: run_status == RunStatus::Unfinished,
            recommendation: None,
            confidence: None,
            cost: None,
            total_tokens: None,
            duration_ms: None,
            abort_reason: None,
            outcome: None,
            demonstration: false,
            follow_up_of: None,
            follow_ups: Vec::new(),
        }
    }
}
