//! Keeps the state of an agent's loop in a folder, so that it survives crashes and several
//! processes.
//!
//! The log is the truth: one event a line, only ever appended to. The state is the fold of it, and
//! its file is a copy for scripts, written whole or not at all after each event. Both are written
//! under one lock, that of the log. A process that is killed at any moment leaves at most part of a
//! line, which is no event. Neither is synced: that would take longer than the rest of a check, and
//! a log without its last seconds is a log.
//!
//! Nothing is overwritten that this program cannot read.

mod folder;
mod log;
mod state_file;

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::domain::time::Timestamp;
use crate::files::write::{WriteError, clear_leftovers};
use crate::stopping::exit_check::event::{LoopEvent, LoopEventKind, SCHEMA_VERSION};
use crate::stopping::exit_check::run::RunId;
use crate::stopping::exit_check::state::LoopState;

use log::{Lines, LockedLog};

pub use folder::StateFolder;

/// The reason why a state cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the state folder `{}` is a symbolic link", .0.display())]
    FolderLink(PathBuf),
    #[error("the folder of the log `{}` is a symbolic link", .0.display())]
    LogsLink(PathBuf),
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
    pub folder: StateFolder,
}

/// A state after an event.
#[derive(Debug)]
pub struct Update {
    pub event: LoopEvent,
    pub state: LoopState,
    /// The reason why the file of the state is older than the log: scripts see the event before.
    pub stale_file: Option<WriteError>,
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

    /// Reads the state without waiting for other processes; that of a new loop if there is none.
    pub fn load(&self) -> Result<LoopState, StoreError> {
        self.fold(self.lines()?)
    }

    /// Reads the log without a lock: whole lines never change.
    fn lines(&self) -> Result<Lines, StoreError> {
        let path = self.folder.log();
        match log::open(&path)? {
            Some(mut file) => log::read(&path, &mut file),
            None => Ok(Lines::default()),
        }
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
        let lines = log.read()?;
        let end = lines.end;
        let mut state = self.fold(lines)?;
        let event = next(&state);
        log.append(&event, end)?;
        state.apply(&event);
        clear_leftovers(&self.folder.path, event.time);
        let stale_file = state_file::write(&self.folder.state(), &state).err();
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

    /// Returns the events of the log, oldest first, with an error for each damaged line.
    pub fn history(&self) -> Result<Vec<Result<LoopEvent, StoreError>>, StoreError> {
        self.lines().map(|lines| lines.events)
    }

    fn fold(&self, lines: Lines) -> Result<LoopState, StoreError> {
        match state_file::check(&self.folder.state()) {
            // The log has everything that the file had.
            Err(StoreError::DamagedState { .. }) if !lines.events.is_empty() => {}
            checked => checked?,
        }
        let mut state = LoopState::default();
        for event in lines.events {
            state.apply(&event?);
        }
        Ok(state)
    }
}

/// Returns the id of a new run that has no name: the time of its beginning.
pub fn fresh_run(now: Timestamp) -> RunId {
    RunId(now.to_string())
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
