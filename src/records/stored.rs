//! Reading records back. Tolerant: of what a list of consultations shows, only the id must be there.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::consultation::event::StateName;
use crate::domain::artifact::SCHEMA_VERSION;
use crate::domain::confidence::Confidence;
use crate::domain::ids::ConsultationId;
use crate::domain::money::Cost;
use crate::domain::time::Timestamp;

/// What is read of a record.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StoredRecord {
    pub schema_version: String,
    pub consultation_id: ConsultationId,
    #[serde(default)]
    pub timestamp: Option<Timestamp>,
    #[serde(default)]
    pub question: String,
    #[serde(default)]
    pub mode: Option<String>,
    #[serde(default)]
    pub state: Option<StateName>,
    /// `complete`, `degraded`, `aborted`, or a word of a later version.
    #[serde(default)]
    pub status: Option<String>,
    #[serde(default)]
    pub recommendation: Option<String>,
    #[serde(default)]
    pub confidence: Option<Confidence>,
    #[serde(default)]
    pub cost: Option<Cost>,
    #[serde(default)]
    pub duration_ms: Option<u64>,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordUnreadable {
    #[error("cannot read record `{}`", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("`{}` is not a record", .path.display())]
    NotARecord { path: PathBuf, source: serde_json::Error },
    #[error("record `{}` has version `{found}`; this program reads `{SCHEMA_VERSION}`", .path.display())]
    OtherVersion { path: PathBuf, found: String },
}

/// Reads a record of this or an earlier version.
pub fn read_record(path: &Path) -> Result<StoredRecord, RecordUnreadable> {
    let bytes = std::fs::read(path).map_err(|source| RecordUnreadable::Io { path: path.to_owned(), source })?;
    let record: StoredRecord =
        serde_json::from_slice(&bytes).map_err(|source| RecordUnreadable::NotARecord { path: path.to_owned(), source })?;
    match record.schema_version.as_str() {
        SCHEMA_VERSION => Ok(record),
        other => Err(RecordUnreadable::OtherVersion { path: path.to_owned(), found: other.to_owned() }),
    }
}
