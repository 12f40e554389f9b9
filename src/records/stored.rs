//! Reads records. Only the id is required, and a question, answers or a cost; a field of an unexpected
//! type counts as missing.

mod conclave;
mod tolerant;
mod strict;

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::domain::artifact::SCHEMA_VERSION;
use crate::domain::ids::{RecordName, RecordNameError};
use crate::domain::stored_record::StoredRecord;
use crate::files::{self, SizeLimit};

use strict::Strict;

/// The reason why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordReadError {
    #[error("cannot read record `{}`", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("it is not JSON")]
    NotJson(#[source] serde_json::Error),
    #[error("it is not a record of a consultation")]
    NotARecord,
    #[error(transparent)]
    Id(#[from] RecordNameError),
    #[error("it has version `{0}`; this program reads `{SCHEMA_VERSION}`")]
    OtherVersion(String),
}

/// Reads a record's file.
pub fn read_file(path: &Path) -> Result<StoredRecord, RecordReadError> {
    let failed = |source| RecordReadError::Io {
        path: path.to_owned(),
        source,
    };
    read(&files::read(path, SizeLimit::RECORD).map_err(failed)?)
}

/// Reads a record.
pub fn read(bytes: &[u8]) -> Result<StoredRecord, RecordReadError> {
    if let Some(record) = intact(bytes) {
        return Ok(record);
    }
    let value: Value = serde_json::from_slice(bytes).map_err(RecordReadError::NotJson)?;
    // The version first: another one explains every other mismatch.
    let version = value.get("schema_version").and_then(Value::as_str);
    if let Some(version) = version.filter(|version| *version != SCHEMA_VERSION) {
        return Err(RecordReadError::OtherVersion(version.to_owned()));
    }
    // Events and grades have an id too.
    let is_record = ["question", "responses", "cost"]
        .into_iter()
        .any(|name| value.get(name).is_some_and(|value| !value.is_null()));
    let record = is_record.then(|| conclave::read(value)).flatten();
    let record = record.filter(|record| !record.id.is_empty());
    let record = record.ok_or(RecordReadError::NotARecord)?;
    RecordName::parse(&record.id)?;
    Ok(record)
}

/// Reads a record without unexpected values, as nearly all are, without a tree of its values.
/// `None` for any other file.
fn intact(bytes: &[u8]) -> Option<StoredRecord> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let record = StoredRecord::deserialize(Strict(&mut json)).ok()?;
    json.end().ok()?;
    let is_record = !record.question.is_empty() || record.cost.is_some();
    let is_ours = record.schema_version.as_deref() == Some(SCHEMA_VERSION);
    let is_named = RecordName::parse(&record.id).is_ok();
    (is_record && is_ours && is_named).then(|| conclave::complete(record))
}
