//! Keeps the state of an agent's loop in a folder, so that it survives crashes and several
//! processes.
//!
//! The log is the truth: one event a line, only ever appended to. The state is the fold of it up to
//! a byte, written whole or not at all after each event; what the log has beyond is folded when it
//! is read. Both are written under one lock, that of the log. A process that is killed at any
//! moment leaves at most part of a line, which is no event. Neither is synced: that would take
//! longer than the rest of a check, and a log without its last seconds is a log.
//!
//! Nothing is overwritten that this program cannot read.

mod folder;
mod log;
mod state_file;

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::domain::time::Timestamp;
use crate::files::write::{WriteError, clear_leftovers};
use crate::stopping::exit_check::event::{LoopEvent, LoopEventKind, SCHEMA_VERSION};
use crate::stopping::exit_check::run::RunId;
use crate::stopping::exit_check::state::LoopState;

use log::{Events, LockedLog};
use state_file::StoredState;

pub use folder::StateFolder;
pub use log::History;

/// The reason why a state cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the state folder `{}` is a symbolic link", .0.display())]
    FolderLink(PathBuf),
    #[error("cannot lock `{}`", path.display())]
    Lock { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(
        "`{}` has version {version}; this program reads {SCHEMA_VERSION}",
        path.display()
    )]
    OtherVersion { path: PathBuf, version: Value },
    #[error("the log `{}` is damaged at byte {offset}", path.display())]
    DamagedLog {
        path: PathBuf,
        offset: u64,
        source: Box<dyn Error + Send + Sync>,
    },
    /// There is no log to rebuild it from.
    #[error("`{}` is no state of a loop", path.display())]
    DamagedState {
        path: PathBuf,
        source: serde_json::Error,
    },
}

impl StoreError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// The state of the loops in one folder.
#[derive(Clone, Debug)]
pub struct Store {
    folder: StateFolder,
}

/// A state after an event.
#[derive(Debug)]
pub struct Update {
    pub event: LoopEvent,
    pub state: LoopState,
    /// The reason why the file of the state is older than the log. The next reader rebuilds it;
    /// scripts that read the file see the event before.
    pub stale_file: Option<WriteError>,
}

/// A state and the end of the log that it is the fold of.
struct LoadedState {
    state: LoopState,
    end: u64,
    /// The import of a state of the original, which the log does not have yet.
    import: Option<LoopEventKind>,
}

impl Store {
    /// Opens the store in a folder, which is created with the first event.
    ///
    /// # Errors
    ///
    /// When the folder is a link that no one named.
    pub fn open(folder: StateFolder) -> Result<Self, StoreError> {
        folder.check()?;
        Ok(Self { folder })
    }

    pub fn folder(&self) -> &StateFolder {
        &self.folder
    }

    /// Reads the state without waiting for other processes; that of a new loop if there is none.
    pub fn load(&self) -> Result<LoopState, StoreError> {
        let stored = state_file::read(&self.folder.state())?;
        let path = self.folder.log();
        let loaded = match log::open(&path)? {
            Some(mut file) => self.fold(stored, &mut file)?,
            None => self.without_log(stored)?,
        };
        Ok(loaded.state)
    }

    /// Reads the state as of now. If the clock went backwards under a circuit that rests, this is
    /// recorded, as far as the folder can be written: else the circuit would rest longer.
    pub fn load_at(&self, now: Timestamp) -> Result<LoopState, StoreError> {
        let state = self.load()?;
        if state.is_ahead_of(now) {
            let set_back = |_: &LoopState| LoopEvent::new(now, LoopEventKind::ClockSetBack);
            if let Ok(update) = self.update(set_back) {
                return Ok(update.state);
            }
        }
        Ok(state)
    }

    /// Appends the event that follows a state, which no other process changes meanwhile.
    ///
    /// # Errors
    ///
    /// When the event cannot be logged; then nothing changes.
    pub fn update(&self, next: impl FnOnce(&LoopState) -> LoopEvent) -> Result<Update, StoreError> {
        self.folder.create()?;
        let mut log = LockedLog::open(&self.folder.log())?;
        let stored = state_file::read(&self.folder.state())?;
        let LoadedState {
            mut state,
            mut end,
            import,
        } = self.fold(stored, log.file())?;
        let event = next(&state);
        if let Some(import) = import {
            end = log.append(&LoopEvent::new(event.time, import), end)?;
        }
        end = log.append(&event, end)?;
        state.apply(&event);
        clear_leftovers(self.folder.path(), event.time);
        let stale_file = state_file::write(&self.folder.state(), &state, end).err();
        Ok(Update {
            event,
            state,
            stale_file,
        })
    }

    /// Forgets all runs, circuits and totals; the log keeps them. Returns whether there was a state.
    pub fn reset(&self, now: Timestamp) -> Result<Option<Update>, StoreError> {
        let exists = self.folder.log().exists() || self.folder.state().exists();
        if !exists {
            return Ok(None);
        }
        self.update(|_| LoopEvent::new(now, LoopEventKind::Reset))
            .map(Some)
    }

    /// Returns the events of the log, newest first.
    pub fn history(&self) -> Result<History, StoreError> {
        History::of(&self.folder.log())
    }

    /// Adds the events of the log to a state that has only some of them.
    fn fold(&self, stored: StoredState, log: &mut File) -> Result<LoadedState, StoreError> {
        let path = self.folder.log();
        let length = log
            .metadata()
            .map_err(|error| StoreError::io(&path, error))?
            .len();
        let (mut state, from) = match stored {
            // A log that was replaced is read from its beginning.
            StoredState::Ours(file) if ends_a_line(log, file.log_offset) => {
                (file.state, file.log_offset)
            }
            stored if length == 0 => return self.without_log(stored),
            StoredState::None
            | StoredState::Ours(_)
            | StoredState::Foreign(_)
            | StoredState::Damaged(_) => (LoopState::default(), 0),
        };
        let mut events = Events::of(&path, log, from)?;
        while let Some(event) = events.next()? {
            state.apply(&event);
        }
        Ok(LoadedState {
            state,
            end: events.end(),
            import: None,
        })
    }

    fn without_log(&self, stored: StoredState) -> Result<LoadedState, StoreError> {
        let (state, import) = match stored {
            StoredState::None | StoredState::Ours(_) => (LoopState::default(), None),
            StoredState::Foreign(totals) => {
                let import = LoopEventKind::Import { totals };
                let mut state = LoopState::default();
                state.apply(&LoopEvent::new(Timestamp::default(), import.clone()));
                (state, Some(import))
            }
            StoredState::Damaged(source) => {
                let path = self.folder.state();
                return Err(StoreError::DamagedState { path, source });
            }
        };
        Ok(LoadedState {
            state,
            end: 0,
            import,
        })
    }
}

/// Returns the id of a new run that has no name: the time of its beginning.
pub fn fresh_run(now: Timestamp) -> RunId {
    RunId(now.to_string())
}

/// Returns whether a line of the log ends before `offset`.
fn ends_a_line(log: &mut File, offset: u64) -> bool {
    let Some(last) = offset.checked_sub(1) else {
        return true;
    };
    let mut byte = [0];
    let read = log
        .seek(SeekFrom::Start(last))
        .and_then(|_| log.read_exact(&mut byte));
    read.is_ok() && byte == *b"\n"
}

fn check_version(path: &Path, version: &Value) -> Result<(), StoreError> {
    if version.as_u64() == Some(u64::from(SCHEMA_VERSION)) {
        Ok(())
    } else {
        Err(StoreError::OtherVersion {
            path: path.to_owned(),
            version: version.clone(),
        })
    }
}
