//! A log of events: one a line, as JSON with its version, only ever appended to.
//!
//! A line counts once it is whole; its line break may be missing. What a killed process left of one
//! is ignored by readers and cut by the next writer. One process writes, and holds the lock of the
//! file. Readers take no lock: whole lines never change.
//!
//! `LogFile` is such a file, `EventLog` one whose fold is all that is known. An event that is
//! synced is on the disk when it is recorded, with all events before it. After a power failure, the
//! log ends after any of the events that follow.

use std::error::Error;
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::artifact::MissingFieldError;
use crate::files::write::{Durability, WriteError};
use crate::files::{self, LinkPolicy, SizeLimit};

/// The greatest length of a line. The longest names every case of a run, or holds all changes of a
/// document.
const LONGEST_LINE: u64 = 256 << 20;

type Cause = Box<dyn Error + Send + Sync>;

/// A line of a log.
pub(super) trait LogEvent: Serialize + DeserializeOwned {
    /// The only version of the events that is read.
    fn schema_version() -> Value;
}

/// A state that is the fold of a log.
pub(super) trait LogFold: Sized {
    type Event: LogEvent;
    type Error: Error + Send + Sync + 'static;

    /// Begins with the first event of a log.
    fn begin(event: &Self::Event) -> Result<Self, Self::Error>;

    /// Adds an event. An error leaves the state as it was.
    fn apply(&mut self, event: &Self::Event) -> Result<(), Self::Error>;
}

/// The treatment of a log on a file system without locks, which another process may be writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoLockPolicy {
    Refuse,
    /// The user states that no other process writes it.
    Trust,
}

/// The reason why a log cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("there is no file `{}`", .0.display())]
    Missing(PathBuf),
    #[error("`{}` is being written by another process", .0.display())]
    Busy(PathBuf),
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
    #[error("an event does not follow from those of `{}`", path.display())]
    Misfit { path: PathBuf, source: Cause },
}

impl LogError {
    pub(super) fn unreadable(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing(path),
            _ => Self::Io { path, source },
        }
    }
}

/// A file of events, locked for writing until this is dropped.
#[derive(Debug)]
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// The end of the last whole line.
    end: u64,
    /// Whether an event could not be written.
    pub(super) is_broken: bool,
}

/// The end of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LogEnd {
    /// Bytes of the lines that are events.
    whole_bytes: u64,
    /// Bytes of a last line that a killed process left torn; it never was an event.
    pub(super) torn_bytes: u64,
    /// The last event is whole and only its line break is missing.
    lacks_line_break: bool,
}

impl LogFile {
    /// Creates a log that does not exist, and locks it.
    pub(super) fn create(path: &Path) -> Result<Self, WriteError> {
        Self::try_create(path).map_err(|error| WriteError::new(path, error))
    }

    fn try_create(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.append(true).create_new(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        match file.try_lock() {
            // Without locks, the new name alone separates two processes.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::ResourceBusy.into()),
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            end: 0,
            is_broken: false,
        })
    }

    /// Opens a log, locks it, and hands over its events. A torn last line is cut off, and a missing
    /// line break added.
    ///
    /// # Errors
    ///
    /// When the log is missing, another process writes it, or it cannot be read; nothing is changed
    /// then.
    pub(super) fn open<E: LogEvent>(
        path: &Path,
        unlocked: NoLockPolicy,
        take: impl FnMut(E) -> Result<(), Cause>,
    ) -> Result<Self, LogError> {
        let mut options = File::options();
        options.read(true).append(true);
        let file = files::open_with(&mut options, path, SizeLimit::NONE, LinkPolicy::Refuse)
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => LogError::Missing(path.to_owned()),
                _ => WriteError::new(path, error).into(),
            })?;
        match (file.try_lock(), unlocked) {
            (Ok(()), _) | (Err(TryLockError::Error(_)), NoLockPolicy::Trust) => {}
            (Err(TryLockError::WouldBlock), _) => return Err(LogError::Busy(path.to_owned())),
            (Err(TryLockError::Error(source)), NoLockPolicy::Refuse) => {
                return Err(LogError::NoLocks {
                    path: path.to_owned(),
                    source,
                });
            }
        }
        let end = read_events(path, &file, take)?;
        let mut log = Self {
            path: path.to_owned(),
            file,
            end: end.whole_bytes,
            is_broken: false,
        };
        let repaired = log.cut().and_then(|()| {
            let line_break: &[u8] = if end.lacks_line_break { b"\n" } else { b"" };
            log.file.write_all(line_break)?;
            log.end += line_break.len() as u64;
            Ok(())
        });
        repaired.map_err(|error| WriteError::new(path, error))?;
        Ok(log)
    }

    /// Appends an event after the last whole line.
    pub(super) fn append(&mut self, event: &impl Serialize) -> io::Result<()> {
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

    fn cut(&self) -> io::Result<()> {
        if self.file.metadata()?.len() > self.end {
            self.file.set_len(self.end)?;
        }
        Ok(())
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        // A program that is being started has copies of open files for a moment, and their locks.
        let _ = self.file.unlock();
    }
}

/// A log whose fold is the state of what it tells.
#[derive(Debug)]
pub(super) struct EventLog(LogFile);

impl EventLog {
    /// Creates a log that does not exist, and locks it.
    pub(super) fn create(path: &Path) -> Result<Self, WriteError> {
        LogFile::create(path).map(Self)
    }

    /// Opens a log as [`Self::open`] does, or creates it.
    pub(super) fn open_or_create<F: LogFold>(path: &Path) -> Result<(Self, Option<F>), LogError> {
        match LogFile::try_create(path) {
            Ok(log) => Ok((Self(log), None)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::open(path),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                Err(LogError::Busy(path.to_owned()))
            }
            Err(error) => Err(WriteError::new(path, error).into()),
        }
    }

    /// Opens a log, locks it, and folds it; `None` if it has no events.
    pub(super) fn open<F: LogFold>(path: &Path) -> Result<(Self, Option<F>), LogError> {
        let mut state = None;
        let log = LogFile::open(path, NoLockPolicy::Refuse, |event| add(&mut state, &event))?;
        Ok((Self(log), state))
    }

    /// Begins a state with an event, and appends the event.
    pub(super) fn begin<F: LogFold>(
        &mut self,
        event: &F::Event,
        durability: Durability,
    ) -> Result<F, LogError> {
        let state = F::begin(event).map_err(|error| self.misfit(error))?;
        self.append(event, durability)?;
        Ok(state)
    }

    /// Applies an event to the state, and appends it.
    ///
    /// # Errors
    ///
    /// When it does not fit: then neither state nor log have it. When it cannot be appended, or an
    /// earlier one could not: then only the state has it, and the log takes no more events.
    pub(super) fn record<F: LogFold>(
        &mut self,
        state: &mut F,
        event: &F::Event,
        durability: Durability,
    ) -> Result<(), LogError> {
        // First, so that an event that does not fit is not in the log.
        state.apply(event).map_err(|error| self.misfit(error))?;
        self.append(event, durability)
    }

    fn misfit(&self, source: impl Error + Send + Sync + 'static) -> LogError {
        LogError::Misfit {
            path: self.0.path.clone(),
            source: Box::new(source),
        }
    }

    fn append(&mut self, event: &impl Serialize, durability: Durability) -> Result<(), LogError> {
        let appended = self.0.append(event).and_then(|()| match durability {
            Durability::Synced => self.0.file.sync_data(),
            Durability::Unsynced => Ok(()),
        });
        self.0.is_broken |= appended.is_err();
        appended.map_err(|error| WriteError::new(&self.0.path, error).into())
    }
}

/// Folds a log without locking it; `None` if it has no events.
pub(super) fn fold<F: LogFold>(path: &Path) -> Result<Option<F>, LogError> {
    let mut options = File::options();
    options.read(true);
    let file = files::open_with(&mut options, path, SizeLimit::NONE, LinkPolicy::Refuse)
        .map_err(|error| LogError::unreadable(path, error))?;
    let mut state = None;
    read_events(path, &file, |event| add(&mut state, &event))?;
    Ok(state)
}

fn add<F: LogFold>(state: &mut Option<F>, event: &F::Event) -> Result<(), Cause> {
    match state {
        None => *state = Some(F::begin(event)?),
        Some(state) => state.apply(event)?,
    }
    Ok(())
}

/// Hands over the events of an open file.
pub(super) fn read_events<E: LogEvent>(
    path: &Path,
    file: &File,
    mut take: impl FnMut(E) -> Result<(), Cause>,
) -> Result<LogEnd, LogError> {
    let mut reader = BufReader::new(file);
    let mut end = LogEnd::default();
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let length = (&mut reader)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)
            .map_err(|source| LogError::Io {
                path: path.to_owned(),
                source,
            })? as u64;
        if length == 0 {
            break;
        }
        let is_whole = bytes.last() == Some(&b'\n');
        let event = match parse(path, line, &bytes) {
            Err(_) if !is_whole && length < LONGEST_LINE => {
                end.torn_bytes = length;
                break;
            }
            event => event?,
        };
        take(event).map_err(|source| LogError::Contradiction {
            path: path.to_owned(),
            line,
            source,
        })?;
        end.whole_bytes += length;
        // A part of an object never parses: a line that does lacks only its line break.
        end.lacks_line_break = !is_whole;
    }
    Ok(end)
}

#[derive(Deserialize)]
struct EventVersion {
    schema_version: Option<Value>,
}

fn parse<E: LogEvent>(path: &Path, line: u64, bytes: &[u8]) -> Result<E, LogError> {
    let damaged = |source: Cause| LogError::DamagedLine {
        path: path.to_owned(),
        line,
        source,
    };
    // The version first: another one explains every other mismatch.
    let EventVersion { schema_version } =
        serde_json::from_slice(bytes).map_err(|error| damaged(error.into()))?;
    let version = schema_version.ok_or_else(|| damaged(MissingFieldError::VERSION.into()))?;
    let supported = E::schema_version();
    if version != supported {
        let text = |version: Value| version.as_str().map_or(version.to_string(), str::to_owned);
        return Err(LogError::OtherVersion {
            path: path.to_owned(),
            line,
            version: text(version),
            supported: text(supported),
        });
    }
    serde_json::from_slice(bytes).map_err(|error| damaged(error.into()))
}
