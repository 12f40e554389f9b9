//! A log of events: one a line, as JSON with its version, only ever appended to. What is known is
//! the fold of it.
//!
//! A line counts once its newline is written: what a killed process left of one is ignored by
//! readers and cut by the next writer. One process writes, and holds the lock of the file. Readers
//! take no lock: whole lines never change.
//!
//! An event that is synced is on the disk when it is recorded, with all events before it. After a
//! power failure, the log ends after any of the events that follow.

use std::error::Error;
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::files::write::{Durability, WriteError};
use crate::files::{self, LinkPolicy, SizeLimit};

/// The greatest length of a line. The longest names every case of a run, or holds all changes of a
/// document.
const LONGEST_LINE: u64 = 256 << 20;

/// A state that is the fold of a log.
pub(super) trait LogFold: Sized {
    type Event: Serialize + DeserializeOwned;
    type Error: Error + Send + Sync + 'static;

    /// The only version of the events that is read.
    const SCHEMA_VERSION: u32;

    /// Begins with the first event of a log.
    fn begin(event: &Self::Event) -> Result<Self, Self::Error>;

    /// Adds an event. An error leaves the state as it was.
    fn apply(&mut self, event: &Self::Event) -> Result<(), Self::Error>;
}

/// The reason why a log cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum EventLogError {
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
        "line {line} of `{}` has version {version}; this program reads {supported}",
        path.display()
    )]
    OtherVersion {
        path: PathBuf,
        line: u64,
        version: Value,
        supported: u32,
    },
    #[error("line {line} of `{}` is not an event", path.display())]
    DamagedLine {
        path: PathBuf,
        line: u64,
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("line {line} of `{}` does not follow from the lines before", path.display())]
    Contradiction {
        path: PathBuf,
        line: u64,
        source: Box<dyn Error + Send + Sync>,
    },
    /// What this process knows is not in the log any more.
    #[error("an earlier event could not be written to `{}`", .0.display())]
    Broken(PathBuf),
    /// It is a mistake of this program.
    #[error("an event does not follow from those of `{}`", path.display())]
    Misfit {
        path: PathBuf,
        source: Box<dyn Error + Send + Sync>,
    },
}

/// A log, locked for writing until this is dropped.
#[derive(Debug)]
pub(super) struct EventLog {
    path: PathBuf,
    file: File,
    /// The end of the last whole line.
    end: u64,
    /// Whether an event could not be written.
    is_broken: bool,
}

impl EventLog {
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

    /// Opens a log as [`Self::open`] does, or creates it.
    pub(super) fn open_or_create<F: LogFold>(
        path: &Path,
    ) -> Result<(Self, Option<F>), EventLogError> {
        match Self::try_create(path) {
            Ok(log) => Ok((log, None)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::open(path),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                Err(EventLogError::Busy(path.to_owned()))
            }
            Err(error) => Err(WriteError::new(path, error).into()),
        }
    }

    /// Opens a log, locks it, and folds it; `None` if it has no events.
    pub(super) fn open<F: LogFold>(path: &Path) -> Result<(Self, Option<F>), EventLogError> {
        let mut options = File::options();
        options.read(true).append(true);
        let mut file = files::open_with(&mut options, path, SizeLimit::NONE, LinkPolicy::Refuse)
            .map_err(|error| WriteError::new(path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(EventLogError::Busy(path.to_owned())),
            Err(TryLockError::Error(source)) => {
                return Err(EventLogError::NoLocks {
                    path: path.to_owned(),
                    source,
                });
            }
        }
        let (state, end) = fold(path, &mut file)?;
        let log = Self {
            path: path.to_owned(),
            file,
            end,
            is_broken: false,
        };
        Ok((log, state))
    }

    /// Begins a state with an event, and appends the event.
    pub(super) fn begin<F: LogFold>(
        &mut self,
        event: &F::Event,
        durability: Durability,
    ) -> Result<F, EventLogError> {
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
    ) -> Result<(), EventLogError> {
        if self.is_broken {
            return Err(EventLogError::Broken(self.path.clone()));
        }
        // First, so that an event that does not fit is not in the log.
        state.apply(event).map_err(|error| self.misfit(error))?;
        self.append(event, durability)
    }

    fn misfit(&self, source: impl Error + Send + Sync + 'static) -> EventLogError {
        EventLogError::Misfit {
            path: self.path.clone(),
            source: Box::new(source),
        }
    }

    /// Appends an event after the last whole line.
    fn append(
        &mut self,
        event: &impl Serialize,
        durability: Durability,
    ) -> Result<(), EventLogError> {
        if self.is_broken {
            return Err(EventLogError::Broken(self.path.clone()));
        }
        let appended = self.try_append(event, durability);
        self.is_broken = appended.is_err();
        appended.map_err(|error| WriteError::new(&self.path, error).into())
    }

    fn try_append(&mut self, event: &impl Serialize, durability: Durability) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        if line.len() as u64 > LONGEST_LINE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let written = self.cut().and_then(|()| self.file.write_all(&line));
        if let Err(error) = written {
            // What cannot be cut now is cut by the next writer.
            let _ = self.cut();
            return Err(error);
        }
        self.end += line.len() as u64;
        match durability {
            Durability::Synced => self.file.sync_data(),
            Durability::Unsynced => Ok(()),
        }
    }

    fn cut(&self) -> io::Result<()> {
        if self.file.metadata()?.len() > self.end {
            self.file.set_len(self.end)?;
        }
        Ok(())
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        // A program that is being started has copies of open files for a moment, and their locks.
        let _ = self.file.unlock();
    }
}

pub(super) fn open_to_read(path: &Path) -> Result<File, EventLogError> {
    let mut options = File::options();
    files::open_with(
        options.read(true),
        path,
        SizeLimit::NONE,
        LinkPolicy::Refuse,
    )
    .map_err(|source| EventLogError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Folds a log. Returns the state, if there is an event, and the end of the last whole line.
pub(super) fn fold<F: LogFold>(
    path: &Path,
    file: &mut File,
) -> Result<(Option<F>, u64), EventLogError> {
    let failed = |source| EventLogError::Io {
        path: path.to_owned(),
        source,
    };
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut reader = BufReader::new(file);
    let mut state: Option<F> = None;
    let (mut bytes, mut end) = (Vec::new(), 0);
    for line in 1.. {
        bytes.clear();
        let length = (&mut reader)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)
            .map_err(failed)? as u64;
        if bytes.last() != Some(&b'\n') {
            if length == LONGEST_LINE {
                return Err(EventLogError::DamagedLine {
                    path: path.to_owned(),
                    line,
                    source: "it is longer than any event".into(),
                });
            }
            break;
        }
        let event = parse::<F>(path, &bytes, line)?;
        let next = match &mut state {
            None => F::begin(&event).map(|begun| state = Some(begun)),
            Some(state) => state.apply(&event),
        };
        next.map_err(|source| EventLogError::Contradiction {
            path: path.to_owned(),
            line,
            source: Box::new(source),
        })?;
        end += length;
    }
    Ok((state, end))
}

#[derive(Deserialize)]
struct EventVersion {
    schema_version: Value,
}

fn parse<F: LogFold>(path: &Path, bytes: &[u8], line: u64) -> Result<F::Event, EventLogError> {
    let damaged = |source: serde_json::Error| EventLogError::DamagedLine {
        path: path.to_owned(),
        line,
        source: source.into(),
    };
    // The version first: another one explains every other mismatch.
    let EventVersion { schema_version } = serde_json::from_slice(bytes).map_err(damaged)?;
    if schema_version.as_u64() != Some(u64::from(F::SCHEMA_VERSION)) {
        return Err(EventLogError::OtherVersion {
            path: path.to_owned(),
            line,
            version: schema_version,
            supported: F::SCHEMA_VERSION,
        });
    }
    serde_json::from_slice(bytes).map_err(damaged)
}
