//! What there is to be indexed in a folder of logs: which files belong together, and which of them
//! tells the consultation.
//!
//! The record does, as long as nothing was written to the journal after it. A journal tells where
//! there is no record, or a newer end than the record's: then a process was killed. As long as one
//! is at it, the consultation is open.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::de::IgnoredAny;

use crate::consultation::transcript::Transcript;
use crate::domain::time::Timestamp;
use crate::records::journal::read::read_journal;
use crate::records::outcomes;
use crate::records::record::record;

use super::lock::is_being_written;

/// Which files there are of one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) record: bool,
    pub(super) journal: bool,
    pub(super) outcome: bool,
}

/// When the files of one name were written last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamps {
    record: Option<SystemTime>,
    journal: Option<SystemTime>,
    outcome: Option<SystemTime>,
}

/// How much a file is worth as a source; the greater is the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// What the original left of a run that failed.
    Partial,
    Journal,
    Record,
}

/// What tells a consultation, as JSON with the keys of a record.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) json: Vec<u8>,
    pub(super) written_at: Timestamp,
    pub(super) worth: Worth,
}

/// What was found under one name.
#[derive(Debug)]
pub(super) struct Found {
    /// What there is to be told, or why there is nothing; `None` where it has only begun.
    pub(super) told: Option<Result<Told, String>>,
    /// A process is at it.
    pub(super) is_open: bool,
}

/// The names of files that tell consultations, without their endings, in order. No folder has none.
pub(super) fn list(logs: &Path) -> io::Result<BTreeMap<String, Files>> {
    let mut found: BTreeMap<String, Files> = BTreeMap::new();
    let entries = match fs::read_dir(logs) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let name = entry?.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with("consult-")) else {
            continue;
        };
        if let Some(stem) = name
            .strip_suffix(outcomes::ENDING)
            .and_then(|stem| stem.strip_suffix('.'))
        {
            found.entry(stem.to_owned()).or_default().outcome = true;
        } else if name.ends_with(".checkpoint.json") {
            // The original's, of a run under way.
        } else if let Some(stem) = name.strip_suffix(".json") {
            found.entry(stem.to_owned()).or_default().record = true;
        } else if let Some(stem) = name.strip_suffix(".jsonl") {
            found.entry(stem.to_owned()).or_default().journal = true;
        }
    }
    // What became of an answer that is gone is nobody's.
    found.retain(|_, files| files.record || files.journal);
    Ok(found)
}

/// Which files of this name there are.
pub(super) fn of(logs: &Path, stem: &str) -> Files {
    let stamps = stamps(
        logs,
        stem,
        Files {
            record: true,
            journal: true,
            outcome: true,
        },
    );
    Files {
        record: stamps.record.is_some(),
        journal: stamps.journal.is_some(),
        outcome: stamps.outcome.is_some(),
    }
}

/// When the files of a name were written.
pub(super) fn stamps(logs: &Path, stem: &str, files: Files) -> Stamps {
    let written = |is_there: bool, path: &dyn Fn() -> PathBuf| {
        if is_there {
            fs::metadata(path()).ok()?.modified().ok()
        } else {
            None
        }
    };
    Stamps {
        record: written(files.record, &|| record_path(logs, stem)),
        journal: written(files.journal, &|| journal_path(logs, stem)),
        outcome: written(files.outcome, &|| outcomes::path(logs, stem)),
    }
}

/// Finds what tells the consultation of this name.
pub(super) fn find(logs: &Path, stem: &str, stamps: &Stamps) -> Found {
    let journal = journal_path(logs, stem);
    match (stamps.record, stamps.journal) {
        (Some(record), Some(written)) if written > record => {
            if is_being_written(&journal) {
                return Found {
                    told: Some(from_record(logs, stem, record)),
                    is_open: true,
                };
            }
            let told = from_journal(&journal, written).or_else(|_| from_record(logs, stem, record));
            Found {
                told: Some(told),
                is_open: false,
            }
        }
        (Some(record), Some(_) | None) => Found {
            told: Some(from_record(logs, stem, record)),
            is_open: false,
        },
        (None, Some(written)) if stem.ends_with("-partial") => Found {
            told: Some(from_partial(&journal, written)),
            is_open: false,
        },
        (None, Some(_)) if is_being_written(&journal) => Found {
            told: None,
            is_open: true,
        },
        (None, Some(written)) => Found {
            told: Some(from_journal(&journal, written)),
            is_open: false,
        },
        (None, None) => Found {
            told: Some(Err("it is gone".to_owned())),
            is_open: false,
        },
    }
}

fn from_record(logs: &Path, stem: &str, written: SystemTime) -> Result<Told, String> {
    let json = fs::read(record_path(logs, stem)).map_err(|error| error.to_string())?;
    Ok(Told {
        json,
        written_at: timestamp(written),
        worth: Worth::Record,
    })
}

/// The record that the consultation would have had.
fn from_journal(journal: &Path, written: SystemTime) -> Result<Told, String> {
    let read = read_journal(journal).map_err(|error| error.to_string())?;
    let transcript = Transcript::fold(&read.events).ok_or("nothing whole is in it")?;
    let json = serde_json::to_vec(&record(&transcript)).map_err(|error| error.to_string())?;
    Ok(Told {
        json,
        written_at: timestamp(written),
        worth: Worth::Journal,
    })
}

/// The last whole line of what the original left.
fn from_partial(path: &Path, written: SystemTime) -> Result<Told, String> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|mut file| file.read_to_end(&mut text))
        .map_err(|error| error.to_string())?;
    let lines = text.split(|byte| *byte == b'\n').rev();
    let whole = lines
        .into_iter()
        .find(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok())
        .ok_or("nothing whole is in it")?;
    Ok(Told {
        json: whole.to_vec(),
        written_at: timestamp(written),
        worth: Worth::Partial,
    })
}

pub(super) fn journal_path(logs: &Path, stem: &str) -> PathBuf {
    logs.join(format!("{stem}.jsonl"))
}

fn record_path(logs: &Path, stem: &str) -> PathBuf {
    logs.join(format!("{stem}.json"))
}

/// The name of the file that a reason is about.
pub(super) fn file_name(stem: &str, files: Files) -> String {
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
