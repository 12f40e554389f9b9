//! A log of events: one a line, as JSON with its version, only ever appended to.
//!
//! A line counts once it is whole; its line break may be missing. What a killed process left of one
//! is ignored by readers and cut by the next writer. One process writes, and holds the lock of the
//! file. Readers take no lock: whole lines never change.
//!
//! [`LogFile`] is such a file; [`Log`] adds the fold of its events. When a synced event is
//! recorded, it is on the disk with all events before it. A power failure can lose the events after
//! it.

use std::error::Error;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::write::{Durability, PRIVATE, WriteError};
use super::{LinkPolicy, SizeLimit, open, open_with};
use crate::domain::answer::artifact::MissingFieldError;
use crate::domain::record::log::{Fold, LogLine};

/// The greatest length of a line. The longest names every case of a run, or holds all changes of a
/// document.
const LONGEST_LINE: u64 = 256 << 20;

type Cause = Box<dyn Error + Send + Sync>;

/// The lock of a log that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockPolicy {
    /// An error if another process writes it, or may do so since its file system has no locks.
    Refuse,
    /// An error if another process writes it. Without locks, the user states that none does.
    Trust,
    /// Waits until no other process writes it. Creates the log if there is none.
    Wait,
}

/// The reason why a log cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("there is no file `{}`", .0.display())]
    Missing(PathBuf),
    /// Its process was killed before the first event.
    #[error("`{}` has no events", .0.display())]
    Empty(PathBuf),
    /// What is done to what.
    #[error("{0} by another process")]
    Busy(String),
    #[error(
        "another process may be writing `{}`: its file system has no locks",
        path.display()
    )]
    NoLocks { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(
        "line {line} of `{}` has version `{version}`; this program reads `{supported}`",
        path.display()
    )]
    OtherVersion {
        path: PathBuf,
        line: u64,
        version: String,
        supported: String,
    },
    #[error("line {line} of `{}` is not an event", path.display())]
    DamagedLine {
        path: PathBuf,
        line: u64,
        source: Cause,
    },
    #[error("line {line} of `{}` does not follow from the lines before", path.display())]
    Contradiction {
        path: PathBuf,
        line: u64,
        source: Cause,
    },
    /// It is a mistake of this program.
    #[error("an event does not follow from the earlier events of `{}`", path.display())]
    Misfit { path: PathBuf, source: Cause },
}

impl LogError {
    pub fn unreadable(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing(path),
            _ => Self::Io { path, source },
        }
    }
}

/// A log whose fold is the state of what it tells.
#[derive(Debug)]
pub struct Log<F> {
    pub file: LogFile,
    pub state: F,
}

impl<F: Fold> Log<F> {
    /// Opens a log, locks it, and folds it; `None` if it has no events.
    ///
    /// # Errors
    ///
    /// As those of [`LogFile::open`].
    pub fn open(path: &Path, locks: LockPolicy) -> Result<(LogFile, Option<F>), LogError> {
        LogFile::open(path, locks, fold)
    }

    /// Begins a log that has no events.
    pub fn begin(
        mut file: LogFile,
        event: &F::Event,
        durability: Durability,
    ) -> Result<Self, LogError> {
        let state = F::begin(event).map_err(|error| file.misfit(error))?;
        file.append_to_disk(event, durability)?;
        Ok(Self { file, state })
    }

    /// Applies an event to the state, and appends it.
    ///
    /// # Errors
    ///
    /// When it does not fit: then neither state nor log have it. When it cannot be appended, or an
    /// earlier one could not: then only the state has it, and the log takes no more events.
    pub fn record(&mut self, event: &F::Event, durability: Durability) -> Result<(), LogError> {
        // First, so that an event that does not fit is not in the log.
        let applied = self.state.apply(event);
        applied.map_err(|error| self.file.misfit(error))?;
        self.file.append_to_disk(event, durability)
    }
}

/// A file of events, locked for writing until this is dropped.
#[derive(Debug)]
pub struct LogFile {
    pub path: PathBuf,
    pub file: File,
    /// The end of the last whole line.
    end: u64,
    /// Whether an event could not be written.
    pub is_broken: bool,
}

impl LogFile {
    /// Creates a log that does not exist, and locks it.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let failed = |error| WriteError::new(path, error);
        let mut options = File::options();
        options.append(true).create_new(true).mode(PRIVATE);
        let file = options.open(path).map_err(failed)?;
        match file.try_lock() {
            // Without locks, the new name alone separates two processes.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(failed(io::ErrorKind::ResourceBusy.into()));
            }
        }
        Ok(Self::new(path, file, 0))
    }

    fn new(path: &Path, file: File, end: u64) -> Self {
        Self {
            path: path.to_owned(),
            file,
            end,
            is_broken: false,
        }
    }

    /// Opens a log, locks it, and reads it. A torn last line is cut off, and a missing line break
    /// added.
    ///
    /// # Errors
    ///
    /// When the log is missing, another process writes it, or it cannot be read; nothing is changed
    /// then.
    pub fn open<E: LogLine, T>(
        path: &Path,
        locks: LockPolicy,
        read: impl FnOnce(&mut LogReader<'_, E>) -> Result<T, LogError>,
    ) -> Result<(Self, T), LogError> {
        let file = locked(path, locks)?;
        let mut lines = LogReader::new(path, &file);
        let content = read(&mut lines)?;
        let LogReader {
            whole_bytes,
            lacks_line_break,
            ..
        } = lines;
        let mut log = Self::new(path, file, whole_bytes);
        let repaired = log.cut().and_then(|()| {
            let line_break: &[u8] = if lacks_line_break { b"\n" } else { b"" };
            log.end += line_break.len() as u64;
            log.file.write_all(line_break)
        });
        repaired.map_err(|error| WriteError::new(path, error))?;
        Ok((log, content))
    }

    /// Appends an event after the last whole line.
    pub fn append(&mut self, event: &impl Serialize) -> io::Result<()> {
        let appended = self.try_append(event);
        self.is_broken |= appended.is_err();
        appended
    }

    fn try_append(&mut self, event: &impl Serialize) -> io::Result<()> {
        if self.is_broken {
            return Err(io::Error::other("an earlier event could not be written"));
        }
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        if line.len() as u64 > LONGEST_LINE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if let Err(error) = self.file.write_all(&line) {
            // What cannot be cut now is cut by the next writer.
            let _ = self.cut();
            return Err(error);
        }
        self.end += line.len() as u64;
        Ok(())
    }

    fn append_to_disk(
        &mut self,
        event: &impl Serialize,
        durability: Durability,
    ) -> Result<(), LogError> {
        let appended = self.append(event).and_then(|()| match durability {
            Durability::Synced => self.file.sync_data(),
            Durability::Unsynced => Ok(()),
        });
        self.is_broken |= appended.is_err();
        appended.map_err(|error| WriteError::new(&self.path, error).into())
    }

    fn cut(&self) -> io::Result<()> {
        if self.file.metadata()?.len() > self.end {
            self.file.set_len(self.end)?;
        }
        Ok(())
    }

    fn misfit(&self, source: impl Error + Send + Sync + 'static) -> LogError {
        LogError::Misfit {
            path: self.path.clone(),
            source: Box::new(source),
        }
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        // A program that is being started has copies of open files for a moment, and their locks.
        let _ = self.file.unlock();
    }
}

fn locked(path: &Path, locks: LockPolicy) -> Result<File, LogError> {
    let waits = locks == LockPolicy::Wait;
    let mut options = File::options();
    options.read(true).append(true).create(waits).mode(PRIVATE);
    loop {
        let file =
            open_with(&mut options, path, SizeLimit::LOG, LinkPolicy::Refuse).map_err(|error| {
                match error.kind() {
                    io::ErrorKind::NotFound => LogError::Missing(path.to_owned()),
                    _ => WriteError::new(path, error).into(),
                }
            })?;
        let lock = if waits {
            file.lock().map_err(TryLockError::Error)
        } else {
            file.try_lock()
        };
        match (lock, locks) {
            // Deleted while this process waited: what is written to it would be lost.
            (Ok(()), LockPolicy::Wait) if !is_at(&file, path) => {}
            (Ok(()), _) | (Err(TryLockError::Error(_)), LockPolicy::Trust) => return Ok(file),
            (Err(TryLockError::WouldBlock), _) => {
                let path = path.display();
                return Err(LogError::Busy(format!("`{path}` is being written")));
            }
            (Err(TryLockError::Error(source)), LockPolicy::Refuse | LockPolicy::Wait) => {
                let path = path.to_owned();
                return Err(LogError::NoLocks { path, source });
            }
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, named) = (file.metadata(), fs::symlink_metadata(path));
    open.is_ok_and(|open| named.is_ok_and(|named| id(open) == id(named)))
}

/// The events of an open file, with an error for each line that is none. What a killed process left
/// of the last one is left out.
#[derive(Debug)]
pub struct LogReader<'f, E> {
    path: &'f Path,
    reader: BufReader<&'f File>,
    bytes: Vec<u8>,
    /// The number of the last line, from 1.
    line: u64,
    /// Bytes of the lines that are events.
    whole_bytes: u64,
    /// The last event is whole and only its line break is missing.
    lacks_line_break: bool,
    events: PhantomData<fn() -> E>,
}

impl<'f, E: LogLine> LogReader<'f, E> {
    pub fn new(path: &'f Path, file: &'f File) -> Self {
        Self {
            path,
            reader: BufReader::new(file),
            bytes: Vec::new(),
            line: 0,
            whole_bytes: 0,
            lacks_line_break: false,
            events: PhantomData,
        }
    }

    fn parse(&self) -> Result<E, LogError> {
        let damaged = |source: Cause| LogError::DamagedLine {
            path: self.path.to_owned(),
            line: self.line,
            source,
        };
        // The version first: another one explains every other mismatch.
        let EventVersion { schema_version } =
            serde_json::from_slice(&self.bytes).map_err(|error| damaged(error.into()))?;
        let version = schema_version.ok_or_else(|| damaged(MissingFieldError::VERSION.into()))?;
        let supported = E::schema_version();
        if version != supported {
            let text = |version: Value| version.as_str().map_or(version.to_string(), str::to_owned);
            return Err(LogError::OtherVersion {
                path: self.path.to_owned(),
                line: self.line,
                version: text(version),
                supported: text(supported),
            });
        }
        serde_json::from_slice(&self.bytes).map_err(|error| damaged(error.into()))
    }
}

impl<E: LogLine> Iterator for LogReader<'_, E> {
    type Item = Result<E, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line += 1;
        self.bytes.clear();
        let mut reader = (&mut self.reader).take(LONGEST_LINE);
        let length = match reader.read_until(b'\n', &mut self.bytes) {
            Ok(0) => return None,
            Ok(length) => length as u64,
            Err(source) => {
                let path = self.path.to_owned();
                return Some(Err(LogError::Io { path, source }));
            }
        };
        let is_whole = self.bytes.last() == Some(&b'\n');
        let event = self.parse();
        if event.is_ok() {
            self.whole_bytes += length;
            // A part of an object never parses: a line that does lacks only its line break.
            self.lacks_line_break = !is_whole;
        } else if !is_whole && length < LONGEST_LINE {
            return None;
        }
        Some(event)
    }
}

#[derive(Deserialize)]
struct EventVersion {
    schema_version: Option<Value>,
}

/// Reads a log without locking it.
///
/// # Errors
///
/// When it is missing, or cannot be read.
pub fn read<E: LogLine, T>(
    path: &Path,
    read: impl FnOnce(&mut LogReader<'_, E>) -> Result<T, LogError>,
) -> Result<T, LogError> {
    let mut options = File::options();
    let options = options.read(true);
    let file = open_with(options, path, SizeLimit::LOG, LinkPolicy::Refuse)
        .map_err(|error| LogError::unreadable(path, error))?;
    read(&mut LogReader::new(path, &file))
}

/// How far a log has been read that another process writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    bytes: u64,
    pub lines: u64,
}

/// Reads the events behind a position, without locking the log, and moves the position to their
/// end.
///
/// # Errors
///
/// When the log is missing, or cannot be read.
pub fn read_on<E: LogLine>(
    path: &Path,
    position: &mut LogPosition,
    mut each: impl FnMut(E),
) -> Result<(), LogError> {
    let unreadable = |error| LogError::unreadable(path, error);
    let mut file = open(path, SizeLimit::JOURNAL).map_err(unreadable)?;
    file.seek(SeekFrom::Start(position.bytes))
        .map_err(unreadable)?;
    let mut lines = LogReader::new(path, &file);
    lines.line = position.lines;
    for event in lines.by_ref() {
        each(event?);
        position.lines += 1;
    }
    // The missing line break comes before anything else.
    position.bytes += lines.whole_bytes + u64::from(lines.lacks_line_break);
    Ok(())
}

/// `None` without any.
pub fn fold<F: Fold>(lines: &mut LogReader<'_, F::Event>) -> Result<Option<F>, LogError> {
    let mut state: Option<F> = None;
    while let Some(event) = lines.next() {
        let event = event?;
        let applied = match &mut state {
            None => F::begin(&event).map(|begun| state = Some(begun)),
            Some(state) => state.apply(&event),
        };
        applied.map_err(|error| LogError::Contradiction {
            path: lines.path.to_owned(),
            line: lines.line,
            source: error.into(),
        })?;
    }
    Ok(state)
}
