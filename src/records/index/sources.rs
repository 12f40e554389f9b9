//! The files that the index is built from: which of a consultation's is the source of its rows.
//!
//! The record is, unless the journal was written after it. The journal is, without a readable record
//! or with an end newer than the record's: then a process was killed. While a process writes the journal,
//! the consultation is open.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::consultation::transcript::Transcript;
use crate::domain::ids::RecordName;
use crate::domain::stored_record::StoredRecord;
use crate::domain::time::Timestamp;
use crate::records::files::ConsultationFiles;
use crate::records::journal::is_being_written;
use crate::records::journal::read::read_journal;
use crate::records::stored::{self, RecordReadError};

/// The rank of a file as a source; the greater one is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SourceRank {
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
    /// The name of the source's file.
    pub(super) file: String,
    /// The record, or the reason why there is none; `None` for a consultation that is still
    /// running.
    pub(super) record: Option<Result<SourceRecord, String>>,
    /// A process is writing the journal.
    pub(super) is_open: bool,
}

/// Finds the source of a stem.
pub(super) fn find(logs: &Path, stem: &RecordName) -> SourceLookup {
    let paths = ConsultationFiles::with_stem(logs, stem);
    let recorded = written_at(&paths.record);
    let from_record = || Some(read_record(&paths.record, recorded?));
    let is_newer = |written: &SystemTime| Some(*written) > recorded;
    let Some(journalled) = written_at(&paths.journal).filter(is_newer) else {
        let record = from_record().unwrap_or_else(|| Err("it no longer exists".to_owned()));
        let from_older = |why| match written_at(&paths.journal) {
            Some(journalled) => from_journal(&paths.journal, journalled).map_err(|_| why),
            None => Err(why),
        };
        let record = record.or_else(from_older);
        return SourceLookup {
            file: format!("{stem}.json"),
            record: Some(record),
            is_open: false,
        };
    };
    let is_open = is_being_written(&paths.journal);
    let record = if is_open {
        from_record()
    } else {
        let record = from_journal(&paths.journal, journalled);
        Some(record.or_else(|why| from_record().unwrap_or(Err(why))))
    };
    let suffix = recorded.map_or("jsonl", |_| "json");
    SourceLookup {
        file: format!("{stem}.{suffix}"),
        record,
        is_open,
    }
}

fn written_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

fn read_record(path: &Path, written: SystemTime) -> Result<SourceRecord, String> {
    let record = stored::read_file(path).map_err(|error| match error {
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

fn timestamp(moment: SystemTime) -> Timestamp {
    Timestamp(0).after(moment.duration_since(UNIX_EPOCH).unwrap_or_default())
}
