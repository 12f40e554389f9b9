//! The log of a loop: one event a line, only ever appended to. It is the truth; the state is
//! rebuilt from it.
//!
//! A line counts once its newline is written. What a killed process left of a line is ignored by
//! readers and cut by the next writer.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::files::write::WriteError;
use crate::files::{self, LinkPolicy, SizeLimit};
use crate::stopping::exit_check::event::LoopEvent;

use super::{StoreError, check_version};

/// The greatest length of a line. Evidence is bounded, and far below it.
const LONGEST_LINE: u64 = 4 << 20;

/// The number of bytes that are read at once from the end.
const BLOCK: u64 = 64 << 10;

#[derive(Deserialize)]
struct LineVersion {
    schema_version: Value,
}

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
            #[cfg(unix)]
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

    pub(super) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Appends an event after `end`, the end of the last whole line, and returns the new end.
    pub(super) fn append(&mut self, event: &LoopEvent, end: u64) -> Result<u64, StoreError> {
        let mut bytes =
            serde_json::to_vec(event).map_err(|error| WriteError::new(&self.path, error.into()))?;
        bytes.push(b'\n');
        if bytes.len() as u64 > LONGEST_LINE {
            let error = io::Error::from(io::ErrorKind::FileTooLarge);
            return Err(WriteError::new(&self.path, error).into());
        }
        let written = self.cut(end).and_then(|()| self.file.write_all(&bytes));
        if let Err(error) = written {
            // What cannot be cut now is cut by the next writer.
            let _ = self.cut(end);
            return Err(WriteError::new(&self.path, error).into());
        }
        Ok(end + bytes.len() as u64)
    }

    /// Cuts what a killed process left of a line.
    fn cut(&self, end: u64) -> io::Result<()> {
        if self.file.metadata()?.len() > end {
            self.file.set_len(end)?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => id(open) == id(named),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Opens the log to read it, without a lock: whole lines never change. `None` if there is none.
pub(super) fn open(path: &Path) -> Result<Option<File>, StoreError> {
    let mut options = File::options();
    match files::open_with(
        options.read(true),
        path,
        SizeLimit::NONE,
        LinkPolicy::Refuse,
    ) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

/// The events of a log, oldest first.
#[derive(Debug)]
pub(super) struct Events<'a> {
    path: PathBuf,
    file: BufReader<&'a mut File>,
    /// The end of the last whole line.
    end: u64,
}

impl<'a> Events<'a> {
    pub(super) fn of(path: &Path, file: &'a mut File, from: u64) -> Result<Self, StoreError> {
        file.seek(SeekFrom::Start(from))
            .map_err(|error| StoreError::io(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            file: BufReader::new(file),
            end: from,
        })
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn next(&mut self) -> Result<Option<LoopEvent>, StoreError> {
        let mut line = Vec::new();
        let length = (&mut self.file)
            .take(LONGEST_LINE + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| StoreError::io(&self.path, error))?;
        if line.last() != Some(&b'\n') {
            if length as u64 > LONGEST_LINE {
                return Err(too_long(&self.path, self.end));
            }
            return Ok(None);
        }
        let event = parse(&self.path, &line, self.end)?;
        self.end += length as u64;
        Ok(Some(event))
    }
}

/// The events of a log, newest first, in memory one block at a time.
#[derive(Debug)]
pub struct History {
    path: PathBuf,
    file: Option<File>,
    /// The part of the file before the buffer.
    before: u64,
    /// What was read and not returned: the end of it is the end of a line.
    buffer: Vec<u8>,
}

impl History {
    pub(super) fn of(path: &Path) -> Result<Self, StoreError> {
        let file = open(path)?;
        let failed = |error| StoreError::io(path, error);
        let before = file
            .as_ref()
            .map_or(Ok(0), |file| file.metadata().map(|metadata| metadata.len()))
            .map_err(failed)?;
        let mut history = Self {
            path: path.to_owned(),
            file,
            before,
            buffer: Vec::new(),
        };
        // What follows the last newline is part of a line.
        history.line()?;
        Ok(history)
    }

    /// Removes and returns the last line of what was not returned, without its newline.
    fn line(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let mut searched = 0;
        loop {
            let unsearched = self.buffer.len() - searched;
            let newline = self
                .buffer
                .iter()
                .take(unsearched)
                .rposition(|byte| *byte == b'\n');
            if let Some(newline) = newline {
                let line = self.buffer.split_off(newline + 1);
                self.buffer.pop();
                return Ok(Some(line));
            }
            if self.before == 0 {
                let line = std::mem::take(&mut self.buffer);
                return Ok((!line.is_empty()).then_some(line));
            }
            searched = self.buffer.len();
            if searched as u64 > LONGEST_LINE {
                let offset = std::mem::take(&mut self.before);
                // Where the line begins is unknown, and so is everything before it.
                self.buffer.clear();
                return Err(too_long(&self.path, offset));
            }
            self.read_block()
                .map_err(|error| StoreError::io(&self.path, error))?;
        }
    }

    fn read_block(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let length = self.before.min(BLOCK);
        self.before -= length;
        file.seek(SeekFrom::Start(self.before))?;
        let mut block = Vec::new();
        let read = file.take(length).read_to_end(&mut block)?;
        if (read as u64) < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        block.append(&mut self.buffer);
        self.buffer = block;
        Ok(())
    }
}

impl Iterator for History {
    type Item = Result<LoopEvent, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.line().transpose()?;
        let offset = self.before + self.buffer.len() as u64;
        Some(line.and_then(|line| parse(&self.path, &line, offset)))
    }
}

/// Returns the event of a line that begins at `offset`.
fn parse(path: &Path, line: &[u8], offset: u64) -> Result<LoopEvent, StoreError> {
    let damaged = |source: serde_json::Error| StoreError::DamagedLog {
        path: path.to_owned(),
        offset,
        source: source.into(),
    };
    let version: LineVersion = serde_json::from_slice(line).map_err(damaged)?;
    check_version(path, &version.schema_version)?;
    serde_json::from_slice(line).map_err(damaged)
}

fn too_long(path: &Path, offset: u64) -> StoreError {
    StoreError::DamagedLog {
        path: path.to_owned(),
        offset,
        source: "a line is longer than any event".into(),
    }
}
