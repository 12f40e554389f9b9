//! Reads a journal back. Whole lines are events, a torn last line is left out and reported, and
//! anything else is damage.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::de::Error;

use crate::consultation::event::{Envelope, SCHEMA_VERSION};
use crate::domain::artifact::MissingFieldError;
use crate::files::{self, SizeLimit};

/// The contents of a journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadJournal {
    pub events: Vec<Envelope>,
    /// Bytes of the lines that are events.
    pub whole_bytes: u64,
    /// Bytes of a last line that a killed process left torn; it never was an event.
    pub torn_bytes: u64,
    /// The last event is whole and only its line break is missing.
    pub lacks_line_break: bool,
}

/// The reason why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalReadError {
    #[error("cannot read journal `{}`", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("line {line} of journal `{}` is not an event", .path.display())]
    NotAnEvent {
        path: PathBuf,
        line: u64,
        source: serde_json::Error,
    },
    #[error(
        "line {line} of journal `{}` has version `{version}`; this program reads `{SCHEMA_VERSION}`",
        .path.display()
    )]
    OtherVersion {
        path: PathBuf,
        line: u64,
        version: String,
    },
}

/// Reads a journal. A torn last line is left out and reported; damage anywhere else is an error.
pub fn read_journal(path: &Path) -> Result<ReadJournal, JournalReadError> {
    let file = files::open(path, SizeLimit::JOURNAL).map_err(|source| JournalReadError::Io {
        path: path.to_owned(),
        source,
    })?;
    read(BufReader::new(file), path)
}

/// Reads the lines of an open journal; `path` is for messages.
pub(super) fn read(mut reader: impl BufRead, path: &Path) -> Result<ReadJournal, JournalReadError> {
    let io_error = |source| JournalReadError::Io {
        path: path.to_owned(),
        source,
    };
    let mut read = ReadJournal::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(io_error)? == 0 {
            break;
        }
        if line.last() != Some(&b'\n') {
            // A part of an object never parses: a line that does lacks only its line break.
            match serde_json::from_slice::<Envelope>(&line) {
                Ok(envelope) if envelope.schema_version == SCHEMA_VERSION => {
                    read.events.push(envelope);
                    read.whole_bytes += line.len() as u64;
                    read.lacks_line_break = true;
                }
                Ok(_) | Err(_) => read.torn_bytes = line.len() as u64,
            }
            break;
        }
        let not_an_event = |source| JournalReadError::NotAnEvent {
            path: path.to_owned(),
            line: number,
            source,
        };
        // The version first: another one explains every other mismatch.
        let VersionedLine { schema_version } =
            serde_json::from_slice(&line).map_err(not_an_event)?;
        let schema_version = schema_version
            .ok_or_else(|| not_an_event(serde_json::Error::custom(MissingFieldError::VERSION)))?;
        if schema_version != SCHEMA_VERSION {
            return Err(JournalReadError::OtherVersion {
                path: path.to_owned(),
                line: number,
                version: schema_version,
            });
        }
        read.events
            .push(serde_json::from_slice(&line).map_err(not_an_event)?);
        read.whole_bytes += line.len() as u64;
    }
    Ok(read)
}

#[derive(serde::Deserialize)]
struct VersionedLine {
    schema_version: Option<String>,
}
