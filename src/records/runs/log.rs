//! The log of a run. A line counts once its newline is written: what a killed process left of one is
//! ignored by readers and cut by the next writer.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::benchmark::event::{BenchmarkEvent, SCHEMA_VERSION};
use crate::benchmark::run::RunId;
use crate::benchmark::state::BenchmarkState;
use crate::files::write::{Durability, WriteError};
use crate::files::{self, LinkPolicy, SizeLimit};

use super::RunStoreError;

/// The greatest length of a line. The first event names every case of a run, and is the longest.
const LONGEST_LINE: u64 = 256 << 20;

/// The log of a run, locked for writing until this is dropped.
#[derive(Debug)]
pub(super) struct RunLog {
    path: PathBuf,
    file: File,
    /// The end of the last whole line.
    end: u64,
}

impl RunLog {
    /// Creates a log that does not exist.
    pub(super) fn create(path: &Path) -> Result<Self, WriteError> {
        let failed = |error| WriteError::new(path, error);
        let mut options = File::options();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(failed)?;
        match file.try_lock() {
            // Without locks, the new name alone separates two processes.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(failed(io::ErrorKind::ResourceBusy.into()));
            }
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            end: 0,
        })
    }

    /// Opens a log, locks it, and folds it.
    pub(super) fn open(path: &Path, run: &RunId) -> Result<(Self, BenchmarkState), RunStoreError> {
        let mut options = File::options();
        options.read(true).append(true);
        let mut file = files::open_with(&mut options, path, SizeLimit::NONE, LinkPolicy::Refuse)
            .map_err(|error| WriteError::new(path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RunStoreError::Busy(run.clone())),
            Err(TryLockError::Error(source)) => {
                let run = run.clone();
                return Err(RunStoreError::NoLocks { run, source });
            }
        }
        let (state, end) = fold(path, &mut file)?;
        let log = Self {
            path: path.to_owned(),
            file,
            end,
        };
        Ok((log, state))
    }

    /// Appends an event after the last whole line.
    pub(super) fn append(
        &mut self,
        event: &BenchmarkEvent,
        durability: Durability,
    ) -> Result<(), WriteError> {
        let failed = |error| WriteError::new(&self.path, error);
        let mut line = serde_json::to_vec(event).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        let written = self.cut().and_then(|()| self.file.write_all(&line));
        if let Err(error) = written {
            // What cannot be cut now is cut by the next writer.
            let _ = self.cut();
            return Err(failed(error));
        }
        self.end += line.len() as u64;
        match durability {
            Durability::Synced => self.file.sync_data().map_err(failed),
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

pub(super) fn open_to_read(path: &Path) -> Result<File, RunStoreError> {
    let mut options = File::options();
    files::open_with(
        options.read(true),
        path,
        SizeLimit::NONE,
        LinkPolicy::Refuse,
    )
    .map_err(|error| RunStoreError::io(path, error))
}

/// Folds a log. Returns the state and the end of the last whole line.
pub(super) fn fold(path: &Path, file: &mut File) -> Result<(BenchmarkState, u64), RunStoreError> {
    let failed = |error| RunStoreError::io(path, error);
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut reader = BufReader::new(file);
    let mut state: Option<BenchmarkState> = None;
    let (mut bytes, mut end) = (Vec::new(), 0);
    for line in 1.. {
        bytes.clear();
        let length = (&mut reader)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)
            .map_err(failed)? as u64;
        if bytes.last() != Some(&b'\n') {
            if length == LONGEST_LINE {
                return Err(RunStoreError::DamagedLine {
                    path: path.to_owned(),
                    line,
                    source: "it is longer than any event".into(),
                });
            }
            break;
        }
        let event = parse(path, &bytes, line)?;
        let next = match &mut state {
            None => BenchmarkState::begin(&event).map(|begun| state = Some(begun)),
            Some(state) => state.apply(&event),
        };
        next.map_err(|source| RunStoreError::Contradiction {
            path: path.to_owned(),
            line,
            source,
        })?;
        end += length;
    }
    let state = state.ok_or_else(|| RunStoreError::Empty(path.to_owned()))?;
    Ok((state, end))
}

#[derive(Deserialize)]
struct RunLineVersion {
    schema_version: Value,
}

fn parse(path: &Path, bytes: &[u8], line: u64) -> Result<BenchmarkEvent, RunStoreError> {
    let damaged = |source: serde_json::Error| RunStoreError::DamagedLine {
        path: path.to_owned(),
        line,
        source: source.into(),
    };
    // The version first: another one explains every other mismatch.
    let version: RunLineVersion = serde_json::from_slice(bytes).map_err(damaged)?;
    if version.schema_version.as_u64() != Some(u64::from(SCHEMA_VERSION)) {
        return Err(RunStoreError::OtherVersion {
            path: path.to_owned(),
            line,
            version: version.schema_version,
        });
    }
    serde_json::from_slice(bytes).map_err(damaged)
}
