//! The rows of one consultation in the index's tables. `schema.sql` documents the columns.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Value, ValueRef};

use crate::domain::ids::ConsultationId;
use crate::domain::time::Timestamp;

/// The value of a required text column that the record does not state.
pub(super) const UNKNOWN: &str = "unknown";

/// The columns of one row by name, without the key of the consultation.
pub type Columns = Vec<(&'static str, Value)>;

/// All rows of one consultation.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    pub id: String,
    pub created_at: Timestamp,
    pub consultation: Columns,
    pub agents: Vec<Columns>,
    pub rounds: Vec<Columns>,
    pub calls: Vec<Columns>,
}

/// Another value in such a column is damage: a rebuild replaces the row.
impl FromSql for ConsultationId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).map_err(FromSqlError::other)
    }
}

/// The time, then 19 bits of a hash of the id. Keys sort by time and are the same at every rebuild.
pub fn number(created_at: Timestamp, id: &str) -> i64 {
    // FNV-1a, 64 bits, folded: any hash works as long as it never changes.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let bits = i64::try_from((hash ^ (hash >> 32)) & 0x7_ffff).unwrap_or_default();
    (created_at.0.clamp(0, FARTHEST) << 19) | bits
}

/// Consultations that begin then or later have at least this key.
pub fn first_number(at: Timestamp) -> i64 {
    at.0.clamp(0, FARTHEST) << 19
}

pub(in crate::records) fn numbers(
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> std::ops::Range<i64> {
    let end = until.filter(|until| until.0 <= FARTHEST);
    from.map_or(0, first_number)..end.map_or(i64::MAX, first_number)
}

pub(in crate::records) fn began_at(number: i64) -> Timestamp {
    Timestamp(number >> 19)
}

/// The last millisecond that fits a key, in the year 2527.
const FARTHEST: i64 = (1 << 44) - 1;

/// Takes -1 to 1. Sums of whole millionths do not depend on their order.
#[expect(clippy::cast_possible_truncation, reason = "a million at most")]
pub(super) fn millionths(share: f64) -> i64 {
    (share * 1e6).round() as i64
}
