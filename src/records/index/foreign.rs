//! Reads the rows of a consultation from a record that the original `llm-conclave` wrote.

use crate::domain::time::Timestamp;

use super::extracting::NotIndexable;
use super::rows::Rows;

/// Reads a record that is not one of ours. `stem` and `written_at` as in [`super::extracting::rows`].
pub(super) fn rows<'a>(_record: &'a [u8], _stem: &'a str, _written_at: Timestamp) -> Result<Rows<'a>, NotIndexable> {
    Err(NotIndexable::NotARecord)
}
