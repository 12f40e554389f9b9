//! The files of a folder of logs that the index is built from: which belong together, and which of
//! them is the source of a consultation's rows.
//!
//! The record is, unless the journal was written after it. The journal is, without a record or with
//! an end newer than the record's: then a process was killed. While a process writes the journal,
//! the consultation is open.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::consultation::transcript::Transcript;
use crate::domain::stored_record::StoredRecord;
use crate::domain::time::Timestamp;
use crate::records::journal::is_being_written;
use crate::records::journal::read::read_journal;
use crate::records::outcomes;
use crate::records::stored::{self, RecordReadError};

/// The existing files of one stem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SourceFiles {
    pub(super) record: bool,
    pub(super) journal: bool,
    pub(super) outcome: bool,
}

impl SourceFiles {
    /// All that may exist.
    pub(super) const ALL: Self = Self {
        record: true,
        journal: true,
        outcome: true,
    };
}

/// The stems of consultations, each with its files.
pub(super) type SourceList = BTreeMap<String, SourceFiles>;

/// The rank of a file as a source; the greater one is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SourceRank {
    /// The partial file that the original leaves after a failed run.
    Partial,
    Journal,
    Record,
}

/// A record, or what the record of a journal would be.
#[derive(Debug)]
pub(super) struct SourceRecord {
    pub(super) record: StoredRecord,
    pub(super) written_at: Timestamp,
    pub(super) rank: SourceRank,
}

/// The source of one stem.
#[derive(Debug)]
pub(super) struct SourceLookup {
    /// The record, or the reason why there is none; `None` for a consultation that is still
    /// running.
    pub(super) record: Option<Result<SourceRecord, String>>,
    /// A process is writing the journal.
    pub(super) is_open: bool,
}

/// Returns the stems of consultations with their files, in order; none without a folder.
pub(super) fn list(logs: &Path) -> io::Result<SourceList> {
    let mut sources = SourceList::new();
    let entries = match fs::read_dir(logs) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(sources),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let name = entry?.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with("consult-")) else {
            continue;
        };
        if let Some(stem) = name
            .strip_suffix(outcomes::SUFFIX)
            .and_then(|stem| stem.strip_suffix('.'))
        {
            sources.entry(stem.to_owned()).or_default().outcome = true;
        } else if name.ends_with(".checkpoint.json") {
            // The original's, of a running consultation.
        } else if let Some(stem) = name.strip_suffix(".json") {
            sources.entry(stem.to_owned()).or_default().record = true;
        } else if let Some(stem) = name.strip_suffix(".jsonl") {
            sources.entry(stem.to_owned()).or_default().journal = true;
        }
    }
    // A grade alone is not a consultation.
    sources.retain(|_, files| files.record || files.journal);
    Ok(sources)
}

/// Finds the source of a stem.
pub(super) fn find(logs: &Path, stem: &str, files: SourceFiles) -> SourceLookup {
    let journal = journal_path(logs, stem);
    let written = |exists: bool, path: &Path| {
        if exists {
            fs::metadata(path).ok()?.modified().ok()
        } else {
            None
        }
    };
    let record = written(files.record, &record_path(logs, stem));
    match (record, written(files.journal, &journal)) {
        (Some(record), Some(written)) if written > record => {
            if is_being_written(&journal) {
                return SourceLookup {
                    record: Some(from_record(logs, stem, record)),
                    is_open: true,
                };
            }
            let source =
                from_journal(&journal, written).or_else(|_| from_record(logs, stem, record));
            SourceLookup {
                record: Some(source),
                is_open: false,
            }
        }
        (Some(record), Some(_) | None) => SourceLookup {
            record: Some(from_record(logs, stem, record)),
            is_open: false,
        },
        (None, Some(written)) if stem.ends_with("-partial") => SourceLookup {
            record: Some(from_partial(&journal, written)),
            is_open: false,
        },
        (None, Some(_)) if is_being_written(&journal) => SourceLookup {
            record: None,
            is_open: true,
        },
        (None, Some(written)) => SourceLookup {
            record: Some(from_journal(&journal, written)),
            is_open: false,
        },
        (None, None) => SourceLookup {
            record: Some(Err("it no longer exists".to_owned())),
            is_open: false,
        },
    }
}

fn from_record(logs: &Path, stem: &str, written: SystemTime) -> Result<SourceRecord, String> {
    let record = stored::read_file(&record_path(logs, stem)).map_err(|error| match error {
        RecordReadError::Io { source, .. } => source.to_string(),
        error => error.to_string(),
    })?;
    Ok(SourceRecord {
        record,
        written_at: timestamp(written),
        rank: SourceRank::Record,
    })
}

/// Reads the record that a consultation would have had from its journal.
fn from_journal(journal: &Path, written: SystemTime) -> Result<SourceRecord, String> {
    let journal = read_journal(journal).map_err(|error| error.to_string())?;
    let transcript = Transcript::fold(&journal.events).ok_or("it has no complete event")?;
    Ok(SourceRecord {
        record: transcript.stored_record(),
        written_at: timestamp(written),
        rank: SourceRank::Journal,
    })
}

/// Reads the last whole line of the original's partial file.
fn from_partial(path: &Path, written: SystemTime) -> Result<SourceRecord, String> {
    let record = stored::read_file(path).map_err(|error| match error {
        RecordReadError::NotJson(_) => "it has no complete line".to_owned(),
        error => error.to_string(),
    })?;
    Ok(SourceRecord {
        record,
        written_at: timestamp(written),
        rank: SourceRank::Partial,
    })
}

pub(super) fn journal_path(logs: &Path, stem: &str) -> PathBuf {
    logs.join(format!("{stem}.jsonl"))
}

fn record_path(logs: &Path, stem: &str) -> PathBuf {
    logs.join(format!("{stem}.json"))
}

/// Returns the name of the source file.
pub(super) fn file_name(stem: &str, files: SourceFiles) -> String {
    if files.record {
        format!("{stem}.json")
    } else {
        format!("{stem}.jsonl")
    }
}

fn timestamp(moment: SystemTime) -> Timestamp {
    let since_epoch = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or_default())
}
