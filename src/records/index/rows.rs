//! The rows of one consultation in the index's tables, as plain data. `schema.sql` documents the
//! columns.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};

use crate::domain::ids::ConsultationId;
use crate::domain::money::Cost;
use crate::domain::stored_record::Completion;
use crate::domain::time::Timestamp;

/// The value of a required text column that the record does not state.
pub(super) const UNKNOWN: &str = "unknown";

/// All rows of one consultation.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    pub consultation: ConsultationRow,
    pub agents: Vec<AgentRow>,
    pub rounds: Vec<RoundRow>,
    pub calls: Vec<CallRow>,
}

/// Another value in such a column is damage: a rebuild replaces the row.
impl FromSql for ConsultationId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).map_err(FromSqlError::other)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ConsultationRow {
    pub id: String,
    pub question: String,
    pub mode: String,
    pub final_recommendation: Option<String>,
    pub confidence: Option<f64>,
    pub cost: Option<Cost>,
    pub total_tokens: Option<u64>,
    pub duration_ms: Option<u64>,
    pub created_at: Timestamp,
    pub schema_version: Option<String>,
    pub state: String,
    pub completion: Completion,
    pub status: Option<String>,
    pub abort_reason: Option<String>,
    pub project_type: Option<String>,
    /// The expected tokens of the question's context.
    pub context_tokens: Option<u64>,
    pub agreement: Option<f64>,
    pub dissent: Option<u64>,
    pub early_termination: bool,
    pub saved_micro_usd: Option<u64>,
    /// What the vendors' caches saved, in micro-dollars; negative if they cost more.
    pub cache_saved_micro_usd: Option<i64>,
    /// Whether calls are left out of it whose saving is unknown.
    pub cache_saved_incomplete: bool,
    pub debate: DebateColumns,
    pub verdict_changed: Option<bool>,
    /// The cost of Rounds 3 and 4 together; `None` when neither was started.
    pub later_rounds: Option<Cost>,
    /// The id of the consultation that the question follows up.
    pub follow_up_of: Option<String>,
}

/// Changes of position between the first and the last round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DebateColumns {
    /// Experts for which a change is known either way.
    pub heard: u64,
    pub changed: u64,
    /// The sum of the rises in confidence, in millionths.
    pub rise: i64,
    /// The experts in that sum.
    pub rise_of: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AgentRow {
    pub agent_id: String,
    pub model: String,
    pub provider: String,
    pub role: AgentRole,
    pub confidence: Option<f64>,
    pub agrees: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentRole {
    Expert,
    Judge,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundRow {
    pub round_number: u8,
    pub round_type: &'static str,
    pub duration_ms: Option<u64>,
    pub tokens_used: Option<u64>,
    pub cost: Option<Cost>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CallRow {
    pub call: u32,
    pub round_number: u8,
    pub agent_id: String,
    pub answer: Option<String>,
    pub purpose: Option<String>,
    pub provider: String,
    pub model: String,
    pub stop: Option<String>,
    pub failed: bool,
    pub hedge_won: bool,
    pub cost: Cost,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub tokens_estimated: bool,
    pub first_token_ms: Option<u64>,
    pub duration_ms: Option<u64>,
}

impl AgentRole {
    pub fn name(self) -> &'static str {
        match self {
            Self::Expert => "expert",
            Self::Judge => "judge",
        }
    }
}

/// Returns the key of a consultation: its time, then 19 bits of a hash of its id. Keys sort by time
/// and are the same at every rebuild.
pub fn number(created_at: Timestamp, id: &str) -> i64 {
    // FNV-1a, 64 bits, folded: any hash works as long as it never changes.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let bits = i64::try_from((hash ^ (hash >> 32)) & 0x7_ffff).unwrap_or_default();
    (created_at.0.clamp(0, FARTHEST) << 19) | bits
}

/// Returns the lowest key of a moment: consultations that begin then or later have at least this
/// key.
pub fn first_number(at: Timestamp) -> i64 {
    at.0.clamp(0, FARTHEST) << 19
}

/// Returns the keys of the consultations that begin in a period.
pub(in crate::records) fn numbers(
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> std::ops::Range<i64> {
    let end = until.filter(|until| until.0 <= FARTHEST);
    from.map_or(0, first_number)..end.map_or(i64::MAX, first_number)
}

/// Returns when the consultation of a key began.
pub(in crate::records) fn began_at(number: i64) -> Timestamp {
    Timestamp(number >> 19)
}

/// The last millisecond that fits a key, in the year 2527.
const FARTHEST: i64 = (1 << 44) - 1;

/// Converts a number from -1 to 1 to whole millionths: sums of them do not depend on their order.
#[expect(clippy::cast_possible_truncation, reason = "a million at most")]
pub(super) fn millionths(share: f64) -> i64 {
    (share * 1e6).round() as i64
}
