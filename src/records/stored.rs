//! Reads records: those of this program in every version, and those of the original `llm-conclave`,
//! which shares the home.
//!
//! Only the id is required, and a question, answers or a cost. A field of an unexpected type counts
//! as missing. Our own records are deserialised; those of the original are converted field by field
//! (`llm_conclave`, with `fields` and `vendors`), but for its `artifacts`, which are much like
//! ours.

mod conclave;
mod tolerant;
mod strict;
mod llm_conclave;
mod artifacts;
mod fields;
mod vendors;

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::domain::artifact::SCHEMA_VERSION;
use crate::domain::ids::{RecordName, RecordNameError};
use crate::domain::stored_record::StoredRecord;

use crate::files::{self, SizeLimit};

use fields::JsonFields;
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
    #[error("version `{0}` is newer than this program, which reads `{SCHEMA_VERSION}`")]
    Newer(String),
}

/// Reads a record's file.
pub fn read_file(path: &Path) -> Result<StoredRecord, RecordReadError> {
    let failed = |source| RecordReadError::Io {
        path: path.to_owned(),
        source,
    };
    read(&files::read(path, SizeLimit::RECORD).map_err(failed)?)
}

/// Reads a record: one JSON object, or lines, of which the last whole record counts.
pub fn read(bytes: &[u8]) -> Result<StoredRecord, RecordReadError> {
    // Editors of other systems write a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Some(record) = intact(bytes) {
        return Ok(record);
    }
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => of_value(value),
        Err(error) => read_lines(bytes, error),
    }
}

/// Reads a record of ours without unexpected values, as nearly all are, without a tree of its
/// values. `None` for any other file.
fn intact(bytes: &[u8]) -> Option<StoredRecord> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let record = StoredRecord::deserialize(Strict(&mut json)).ok()?;
    json.end().ok()?;
    let is_ours = record.tool_version.is_some() && RecordName::parse(&record.id).is_ok();
    let is_record = !record.question.is_empty() || record.cost.is_some();
    let is_newer = record.schema_version.as_deref().is_some_and(is_newer);
    (is_ours && is_record && !is_newer).then(|| conclave::complete(record))
}

/// Reads lines from the last to the first; torn lines and other objects are skipped.
fn read_lines(bytes: &[u8], whole: serde_json::Error) -> Result<StoredRecord, RecordReadError> {
    let mut first_error = RecordReadError::NotJson(whole);
    for line in bytes
        .rsplit(|byte| *byte == b'\n')
        .filter(|line| line.starts_with(b"{"))
    {
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        match of_value(value) {
            Ok(record) => return Ok(record),
            // The error of the newest whole line is reported.
            Err(error) if matches!(first_error, RecordReadError::NotJson(_)) => first_error = error,
            Err(_) => {}
        }
    }
    Err(first_error)
}

fn of_value(value: Value) -> Result<StoredRecord, RecordReadError> {
    let fields = JsonFields::of(&value);
    let version = fields.text("schema_version");
    if let Some(version) = version.filter(|version| is_newer(version)) {
        return Err(RecordReadError::Newer(version));
    }
    // Events, checkpoints and grades have an id too.
    let is_record = ["question", "responses", "cost"]
        .into_iter()
        .any(|name| fields.get(name).is_some());
    if !is_record {
        return Err(RecordReadError::NotARecord);
    }
    let record = if is_ours(fields) {
        conclave::read(value)
    } else {
        Some(llm_conclave::read(fields))
    };
    let record = record
        .filter(|record| !record.id.is_empty())
        .ok_or(RecordReadError::NotARecord)?;
    RecordName::parse(&record.id)?;
    Ok(record)
}

/// Returns whether this program wrote a record. The original names rounds `round1`, and states no
/// version of itself.
fn is_ours(fields: JsonFields<'_>) -> bool {
    let rounds = fields
        .object("responses")
        .is_some_and(|responses| responses.keys().any(|round| round.starts_with("round_")));
    rounds
        || fields.text("tool_version").is_some()
        || fields.text("@type").as_deref() == Some("Report")
}

/// Returns whether a version has a greater major number than ours: within one, versions only add.
fn is_newer(version: &str) -> bool {
    let first = |version: &str| {
        version
            .split('.')
            .next()
            .and_then(|number| number.parse::<u64>().ok())
    };
    first(version) > first(SCHEMA_VERSION)
}
