//! Reads the rows of a consultation from its record.

use crate::domain::time::Timestamp;

use super::rows::Rows;

/// Why a file has no rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotIndexable {
    #[error("it is not JSON")]
    NotJson,
    #[error("it is no record of a consultation")]
    NotARecord,
    #[error("version `{0}` is newer than this program")]
    Newer(String),
}

/// Reads a record. `stem` is its file's name without the ending; `written_at` stands in where the record does not tell when it began.
pub fn rows<'a>(record: &'a [u8], stem: &'a str, written_at: Timestamp) -> Result<Rows<'a>, NotIndexable> {
    super::foreign::rows(record, stem, written_at)
}
