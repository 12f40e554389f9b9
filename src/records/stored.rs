//! Reads records. Only the id is required, and a question, answers or a cost.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::domain::answer::artifact::SCHEMA_VERSION;
use crate::domain::ids::{ConsultationId, ConsultationIdError};
use crate::domain::record::stored_record::StoredRecord;
use crate::files::{self, SizeLimit};

/// The reason why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordReadError {
    #[error("cannot read record `{}`", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("it is not JSON")]
    NotJson(#[source] serde_json::Error),
    #[error("it is not a record of a consultation")]
    NotARecord(#[source] Option<serde_json::Error>),
    #[error(transparent)]
    Id(#[from] ConsultationIdError),
    #[error("it has version `{0}`; this program reads `{SCHEMA_VERSION}`")]
    OtherVersion(String),
}

pub fn read_file(path: &Path) -> Result<StoredRecord, RecordReadError> {
    let failed = |source| RecordReadError::Io {
        path: path.to_owned(),
        source,
    };
    read(&files::read(path, SizeLimit::RECORD).map_err(failed)?)
}

pub fn read(bytes: &[u8]) -> Result<StoredRecord, RecordReadError> {
    let read: Result<StoredRecord, _> = serde_json::from_slice(bytes);
    // The version first: another one explains every other mismatch.
    let version = match &read {
        Ok(record) => record.schema_version.clone(),
        Err(_) => serde_json::from_slice(bytes)
            .map_or(None, |RecordVersion { schema_version }| schema_version),
    };
    if let Some(version) = version.filter(|version| version != SCHEMA_VERSION) {
        return Err(RecordReadError::OtherVersion(version));
    }
    let record = read.map_err(|error| {
        // An enumeration that is a list counts as a syntax error.
        if error.is_data() || serde_json::from_slice::<Value>(bytes).is_ok() {
            RecordReadError::NotARecord(Some(error))
        } else {
            RecordReadError::NotJson(error)
        }
    })?;
    // Events and grades have an id too.
    let is_record =
        !record.question.is_empty() || record.cost.is_some() || !record.responses.is_empty();
    if record.id.is_empty() || !is_record {
        return Err(RecordReadError::NotARecord(None));
    }
    ConsultationId::parse(&record.id)?;
    Ok(record)
}

#[derive(Deserialize)]
struct RecordVersion {
    schema_version: Option<String>,
}
