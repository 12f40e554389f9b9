//! What is kept of one consultation, from whichever of its files tells it best.

use std::fs;
use std::path::{Path, PathBuf};

use crate::consultation::transcript::Transcript;
use crate::domain::stored_record::StoredRecord;
use crate::error::Error;
use crate::records::files::ConsultationFiles;
use crate::records::files::ConsultationRef;
use crate::records::journal::read_journal;
use crate::records::outcomes;
use crate::records::record::record;
use crate::records::stored;

/// One consultation, read.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) record: StoredRecord,
    /// The record as it lies, or as it would have been written by now.
    pub(super) json: String,
}

/// Reads the record; the journal where there is none, or where the journal has gone on since it was
/// written.
pub(super) fn read(logs: &Path, found: &ConsultationRef) -> Result<Told, Error> {
    let files = ConsultationFiles::with_stem(logs, &found.stem);
    let told = if has_gone_on(&files) {
        from_journal(&files.journal).or_else(|| from_record(&files.record))
    } else {
        from_record(&files.record)
    };
    let told = told
        .or_else(|| from_journal(&files.journal))
        .or_else(|| from_record(&files.journal));
    let Told { record, json } = told.ok_or_else(|| unreadable(&files, found))?;
    Ok(Told {
        record: StoredRecord {
            grade: outcomes::read(logs, &found.stem),
            ..record
        },
        json,
    })
}

fn from_record(path: &Path) -> Option<Told> {
    let bytes = fs::read(path).ok()?;
    let record = stored::read(&bytes).ok()?;
    Some(Told {
        record,
        json: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

fn from_journal(path: &Path) -> Option<Told> {
    let transcript = Transcript::fold(&read_journal(path).ok()?.events)?;
    let json = serde_json::to_string_pretty(&record(&transcript)).ok()?;
    Some(Told {
        record: stored::of_transcript(&transcript),
        json,
    })
}

/// The journal was written after the record.
fn has_gone_on(files: &ConsultationFiles) -> bool {
    let written = |path: &PathBuf| fs::metadata(path).and_then(|file| file.modified()).ok();
    written(&files.record)
        .zip(written(&files.journal))
        .is_some_and(|(recorded, journalled)| journalled > recorded)
}

/// Why nothing can be read of it.
fn unreadable(files: &ConsultationFiles, found: &ConsultationRef) -> Error {
    if files.record.exists() {
        return match stored::read_file(&files.record) {
            Err(error) => {
                Error::failed(error).hint(format!("what is there: {}", files.record.display()))
            }
            Ok(_) => Error::failed(format!("cannot read {}", found.id)),
        };
    }
    match read_journal(&files.journal) {
        Err(error) if files.journal.exists() => Error::failed(error)
            .hint("what is left of it can be read: it is one JSON object a line"),
        Err(_) => Error::failed(format!("the files of {} are gone", found.id)).hint(format!(
            "take it out of the list: conclave history rm {}",
            found.id
        )),
        Ok(_) => Error::failed(format!(
            "{} had not begun when it ended: its journal is empty",
            found.id
        )),
    }
}
