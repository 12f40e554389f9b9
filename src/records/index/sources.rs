//! The files that the index is built from: for each consultation, the file that its rows come from.
//!
//! That is the record, unless the journal was written after it. It is the journal if no record can
//! be read, or if the journal ends later than the record: then a process was killed. While a
//! process writes the journal, the consultation is open.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::consultation::transcript::Transcript;
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::domain::time::Timestamp;
use crate::records::files::ConsultationFiles;
use crate::records::journal::{is_being_written, read_journal};
use crate::records::stored::{self, RecordReadError};

use super::extract;
use super::rows::Rows;

/// The source of one consultation.
#[derive(Debug)]
pub(super) struct SourceLookup {
    pub(super) id: ConsultationId,
    /// The name of the source's file.
    pub(super) file: String,
    /// The rows of the record, or of what the record of a journal would be; or the reason why there
    /// are none. `None` for a consultation that is still running.
    pub(super) rows: Option<Result<Rows, String>>,
    /// A process is writing the journal.
    pub(super) is_open: bool,
}

pub(super) fn find(logs: &Path, id: &ConsultationId) -> SourceLookup {
    let files = ConsultationFiles::in_folder(logs, id);
    let (recorded, journalled) = (written_at(&files.record), written_at(&files.journal));
    let rows = |record: Result<StoredRecord, String>, written| {
        record.map(|record| extract::rows(&record, timestamp(written)))
    };
    let from_record = || recorded.map(|written| rows(read_record(&files.record, id), written));
    let from_journal =
        || journalled.map(|written| rows(record_of_journal(&files.journal), written));
    let is_newer = journalled > recorded;
    let is_open = is_newer && is_being_written(&files.journal);
    let rows = if is_open {
        from_record()
    } else if is_newer {
        match from_journal() {
            Some(Ok(found)) => Some(Ok(found)),
            failed => from_record().or(failed),
        }
    } else {
        match from_record() {
            Some(Ok(found)) => Some(Ok(found)),
            Some(Err(why)) => Some(from_journal().and_then(Result::ok).ok_or(why)),
            None => Some(Err("it no longer exists".to_owned())),
        }
    };
    let has_journal_alone = journalled.is_some() && recorded.is_none();
    let suffix = if has_journal_alone { "jsonl" } else { "json" };
    SourceLookup {
        id: id.clone(),
        file: format!("{id}.{suffix}"),
        rows,
        is_open,
    }
}

fn written_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

fn read_record(path: &Path, id: &ConsultationId) -> Result<StoredRecord, String> {
    let record = stored::read_file(path).map_err(|error| match error {
        RecordReadError::Io { source, .. } => source.to_string(),
        error => error.to_string(),
    })?;
    if record.id == id.as_str() {
        Ok(record)
    } else {
        Err(format!("it is a copy of {}", record.id))
    }
}

fn record_of_journal(journal: &Path) -> Result<StoredRecord, String> {
    let events = read_journal(journal).map_err(|error| error.to_string())?;
    let transcript = Transcript::fold(&events).ok_or("it has no complete event")?;
    Ok(transcript.stored_record())
}

fn timestamp(moment: SystemTime) -> Timestamp {
    Timestamp(0).after(moment.duration_since(UNIX_EPOCH).unwrap_or_default())
}
