//! Reads a record of any shape: ours of every version, and those of the original `llm-conclave`,
//! which shares the home.
//!
//! Tolerant: of a record only the id must be there, and a question, answers or a cost. A field that
//! is missing or of another type than expected is as if it had not been written. `fields` looks
//! into JSON so, `artifacts` reads what the rounds left behind, in either spelling of the keys;
//! `ours` and `original` read the rest of a record.

mod artifacts;
mod debate_value;
mod fields;
mod judge_passes;
mod llm_conclave;
mod conclave;
mod vendors;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::consultation::transcript::Transcript;
use crate::domain::artifact::SCHEMA_VERSION;
use crate::domain::stored_record::StoredRecord;

use super::record::record;
use fields::Fields;

/// A record above this is none of ours: a hundred answers of the greatest length that is asked for
/// are a tenth of it.
const LARGEST: u64 = 64 << 20;

/// Why there is nothing to be read in a record.
#[derive(Debug, thiserror::Error)]
pub enum RecordReadError {
    #[error("cannot read record `{}`", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("it is larger than {} MB", LARGEST >> 20)]
    TooLarge,
    #[error("it is not JSON")]
    NotJson(#[source] serde_json::Error),
    #[error("it is not a record of a consultation")]
    NotARecord,
    #[error("version `{0}` is newer than this program, which reads `{SCHEMA_VERSION}`")]
    Newer(String),
}

/// Reads a record's file.
pub fn read_file(path: &Path) -> Result<StoredRecord, RecordReadError> {
    let failed = |source| RecordReadError::Io {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    read(&bytes)
}

/// Reads a record: one JSON object, or lines of which the last whole one that is a record counts.
pub fn read(bytes: &[u8]) -> Result<StoredRecord, RecordReadError> {
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST) {
        return Err(RecordReadError::TooLarge);
    }
    // Editors of other systems put a mark before the first byte.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => of_value(&value),
        Err(error) => read_lines(bytes, error),
    }
}

/// What a consultation's record would say, for one that has only its journal.
pub fn of_transcript(transcript: &Transcript) -> StoredRecord {
    conclave::read(Fields::of(&record(transcript)))
}

/// Reads a file of lines from its end: a line that is torn, or no record, is passed over.
fn read_lines(bytes: &[u8], whole: serde_json::Error) -> Result<StoredRecord, RecordReadError> {
    let mut fault = RecordReadError::NotJson(whole);
    for line in bytes
        .rsplit(|byte| *byte == b'\n')
        .filter(|line| line.starts_with(b"{"))
    {
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        match of_value(&value) {
            Ok(record) => return Ok(record),
            // The newest whole line says what is the matter.
            Err(error) if matches!(fault, RecordReadError::NotJson(_)) => fault = error,
            Err(_) => {}
        }
    }
    Err(fault)
}

fn of_value(value: &Value) -> Result<StoredRecord, RecordReadError> {
    let fields = Fields::of(value);
    let version = fields.text("schema_version");
    if let Some(version) = version.filter(|version| is_newer(version)) {
        return Err(RecordReadError::Newer(version));
    }
    let record = if is_ours(fields) {
        conclave::read(fields)
    } else {
        llm_conclave::read(fields)
    };
    // Events, checkpoints and what became of an answer have an id too.
    let is_record = ["question", "responses", "cost"]
        .into_iter()
        .any(|name| fields.get(name).is_some());
    if record.id.is_empty() || !is_record {
        Err(RecordReadError::NotARecord)
    } else {
        Ok(record)
    }
}

/// Whether this program wrote a record. The original's rounds are `round1`, and it does not say by
/// which version of it they were written.
fn is_ours(fields: Fields<'_>) -> bool {
    let rounds = fields
        .object("responses")
        .is_some_and(|responses| responses.keys().any(|round| round.starts_with("round_")));
    rounds
        || fields.text("tool_version").is_some()
        || fields.text("@type").as_deref() == Some("Report")
}

/// Versions with the same first number only add.
fn is_newer(version: &str) -> bool {
    let first = |version: &str| {
        version
            .split('.')
            .next()
            .and_then(|number| number.parse::<u64>().ok())
    };
    first(version) > first(SCHEMA_VERSION)
}
