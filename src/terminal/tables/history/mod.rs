//! The list of past consultations as `conclave history` shows it: plain data, which is also its
//! JSON; `screen` draws it.

mod screen;

pub use self::screen::{below, date, screen};

use serde::Serialize;

use crate::domain::outcome::AnswerOutcome;
use crate::domain::stored_record::Amount;
use crate::domain::time::Timestamp;

use crate::terminal::output::format::dollars;
use crate::terminal::output::style::Paint;

/// Past consultations, newest first.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    pub schema_version: &'static str,
    /// All consultations that match; the newest of them are listed.
    pub total: u64,
    pub consultations: Vec<HistoryRow>,
}

/// One consultation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HistoryRow {
    pub consultation_id: String,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    #[default]
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

    pub(super) fn painted(self, paint: Paint) -> String {
        match self {
            Self::Completed => self.name().to_owned(),
            Self::Declined => paint.dim(self.name()),
            Self::Aborted | Self::Unfinished => paint.yellow(self.name()),
            Self::Running => paint.cyan(self.name()),
        }
    }
}

impl HistoryRow {
    /// Returns a row of which only the start is known.
    pub fn started(
        consultation_id: String,
        timestamp: Timestamp,
        question: String,
        mode: Option<String>,
        run_status: RunStatus,
    ) -> Self {
        Self {
            short_id: consultation_id.clone(),
            consultation_id,
            timestamp,
            question,
            mode,
            run_status,
            resumable: run_status == RunStatus::Unfinished,
            ..Self::default()
        }
    }

    pub(super) fn outcome(&self) -> Option<AnswerOutcome> {
        self.outcome.as_ref().map(|grade| grade.outcome)
    }

    pub(super) fn confidence(&self) -> Option<String> {
        self.confidence
            .map(|confidence| format!("{:.0}%", confidence * 100.0))
    }

    pub(super) fn cost(&self) -> Option<String> {
        self.cost.and_then(|cost| cost.cost()).map(dollars)
    }
}
