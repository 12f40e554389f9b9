//! The log of a loop: one event a line, only ever appended to. It is the truth; the state is
//! rebuilt from it.
//!
//! A line counts once its newline is written. What a killed process left of a line is ignored by
//! readers and cut by the next writer.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::files::write::WriteError;
use crate::files::{self, LinkPolicy, SizeLimit};
use crate::stopping::exit_check::event::LoopEvent;

use super::{StoreError, check_version};

/// The greatest length of a line. Evidence is bounded, and far below it.
const LONGEST_LINE: u64 = 4 << 20;

/// The log, locked for writing until this is dropped.
#[derive(Debug)]
pub(super) struct LockedLog {
    path: PathBuf,
    file: File,
}

impl LockedLog {
    /// Waits until no other process writes the log. Creates it if there is none.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        loop {
            let mut options = File::options();
            options.read(true).append(true).create(true);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = files::open_with(&mut options, path, SizeLimit::NONE, LinkPolicy::Refuse)
                .map_err(|error| WriteError::new(path, error))?;
            file.lock().map_err(|source| StoreError::Lock {
                path: path.to_owned(),
                source,
            })?;
            // Deleted while this process waited: what is written to it would be lost.
            if is_at(&file, path) {
                return Ok(Self {
                    path: path.to_owned(),
                    file,
                });
            }
        }
    }

    pub(super) fn read(&mut self) -> Result<Lines, StoreError> {
        read(&self.path, &mut self.file)
    }

    /// Appends an event after `end`, the end of the last whole line.
    pub(super) fn append(&mut self, event: &LoopEvent, end: u64) -> Result<(), StoreError> {
        let mut bytes =
            serde_json::to_vec(event).map_err(|error| WriteError::new(&self.path, error.into()))?;
        bytes.push(b'\n');
        if bytes.len() as u64 > LONGEST_LINE {
            let error = io::Error::from(io::ErrorKind::FileTooLarge);
            return Err(WriteError::new(&self.path, error).into());
        }
        // What a killed process left of a line is cut.
        let cut = |file: &File| file.set_len(end);
        let written = cut(&self.file).and_then(|()| self.file.write_all(&bytes));
        if let Err(error) = written {
            // What cannot be cut now is cut by the next writer.
            let _ = cut(&self.file);
            return Err(WriteError::new(&self.path, error).into());
        }
        Ok(())
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => id(open) == id(named),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Opens the log to read it, without a lock: whole lines never change. `None` if there is none.
pub(super) fn open(path: &Path) -> Result<Option<File>, StoreError> {
    let mut options = File::options();
    options.read(true);
    match files::open_with(&mut options, path, SizeLimit::NONE, LinkPolicy::Refuse) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

/// The greatest length of a log: some 50,000 turns.
const LONGEST_LOG: u64 = 256 << 20;

/// The whole lines of a log, oldest first.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) events: Vec<Result<LoopEvent, StoreError>>,
    /// The end of the last one.
    pub(super) end: u64,
}

/// Reads a log. What a killed process left of a line is no line.
pub(super) fn read(path: &Path, file: &mut File) -> Result<Lines, StoreError> {
    let failed = |error| StoreError::io(path, error);
    if file.metadata().map_err(failed)?.len() > LONGEST_LOG {
        return Err(failed(io::ErrorKind::FileTooLarge.into()));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))
        .and_then(|_| file.read_to_end(&mut bytes))
        .map_err(failed)?;
    let (mut events, mut end) = (Vec::new(), 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.len() as u64 > LONGEST_LINE {
            events.push(Err(StoreError::DamagedLog {
                path: path.to_owned(),
                offset: end,
                source: "a line is longer than any event".into(),
            }));
        } else if line.ends_with(b"\n") {
            events.push(parse(path, line, end));
        } else {
            break;
        }
        end += line.len() as u64;
    }
    Ok(Lines { events, end })
}

/// Returns the event of a line that begins at `offset`.
fn parse(path: &Path, line: &[u8], offset: u64) -> Result<LoopEvent, StoreError> {
    let damaged = |source: serde_json::Error| StoreError::DamagedLog {
        path: path.to_owned(),
        offset,
        source: source.into(),
    };
    let event: Value = serde_json::from_slice(line).map_err(damaged)?;
    if let Some(version) = event.get("schema_version") {
        check_version(path, version)?;
    }
    serde_json::from_value(event).map_err(damaged)
}
