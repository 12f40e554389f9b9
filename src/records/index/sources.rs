//! The files of a folder of logs that the index is built from: which belong together, and which of
//! them is the source of a consultation's rows.
//!
//! The record is, unless the journal was written after it. The journal is, without a record or with
//! an end newer than the record's: then a process was killed. While a process writes the journal,
//! the consultation is open.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::consultation::transcript::Transcript;
use crate::domain::stored_record::StoredRecord;
use crate::domain::time::Timestamp;
use crate::records::files::{ConsultationFiles, ID_PREFIX};
use crate::records::journal::is_being_written;
use crate::records::journal::read::read_journal;
use crate::records::lookup::each_name;
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
    each_name(logs, |name| {
        // A checkpoint is the original's, of a running consultation.
        if !name.starts_with(ID_PREFIX) || name.ends_with(".checkpoint.json") {
            return;
        }
        if let Some(stem) = name.strip_suffix(outcomes::SUFFIX) {
            sources.entry(stem.to_owned()).or_default().outcome = true;
        } else if let Some(stem) = name.strip_suffix(".json") {
            sources.entry(stem.to_owned()).or_default().record = true;
        } else if let Some(stem) = name.strip_suffix(".jsonl") {
            sources.entry(stem.to_owned()).or_default().journal = true;
        }
    })?;
    // A grade alone is not a consultation.
    sources.retain(|_, files| files.record || files.journal);
    Ok(sources)
}

/// Finds the source of a stem.
pub(super) fn find(logs: &Path, stem: &str, files: SourceFiles) -> SourceLookup {
    let paths = ConsultationFiles::with_stem(logs, stem);
    let written = |exists: bool, path: &Path| {
        if exists {
            fs::metadata(path).ok()?.modified().ok()
        } else {
            None
        }
    };
    let recorded = written(files.record, &paths.record);
    let from_record = || Some(read_record(&paths.record, recorded?, SourceRank::Record));
    let journalled = written(files.journal, &paths.journal);
    let Some(journalled) = journalled.filter(|written| Some(*written) > recorded) else {
        let record = from_record().unwrap_or_else(|| Err("it no longer exists".to_owned()));
        return SourceLookup {
            record: Some(record),
            is_open: false,
        };
    };
    if recorded.is_none() && stem.ends_with("-partial") {
        let record = read_record(&paths.journal, journalled, SourceRank::Partial);
        return SourceLookup {
            record: Some(record),
            is_open: false,
        };
    }
    let is_open = is_being_written(&paths.journal);
    let record = if is_open {
        from_record()
    } else {
        let record = from_journal(&paths.journal, journalled);
        Some(record.or_else(|why| from_record().unwrap_or(Err(why))))
    };
    SourceLookup { record, is_open }
}

fn read_record(path: &Path, written: SystemTime, rank: SourceRank) -> Result<SourceRecord, String> {
    let record = stored::read_file(path).map_err(|error| match (error, rank) {
        (RecordReadError::Io { source, .. }, _) => source.to_string(),
        (RecordReadError::NotJson(_), SourceRank::Partial) => "it has no complete line".to_owned(),
        (error, _) => error.to_string(),
    })?;
    Ok(SourceRecord {
        record,
        written_at: timestamp(written),
        rank,
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
