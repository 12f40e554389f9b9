//! Keeps the state of an agent's loop in a folder, so that it survives crashes and several
//! processes.
//!
//! The log is the truth. The state is the fold of it, and its file is a copy for scripts, written
//! whole or not at all after each event, under the lock of the log. A process that is killed at any
//! moment leaves at most part of a line, which is no event. Neither is synced: that would take
//! longer than the rest of a check, and a log without its last seconds is a log.
//!
//! Nothing is overwritten that this program cannot read.

mod folder;

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::log::SCHEMA_VERSION;
use crate::domain::time::Timestamp;
use crate::files::log::{self, LockPolicy, Log, LogError, LogReader};
use crate::files::write::{Durability, WriteError, clear_leftovers, write_json};
use crate::files::{self, SizeLimit};
use crate::stopping::exit_check::event::{LoopEvent, LoopEventKind};
use crate::stopping::exit_check::run::RunId;
use crate::stopping::exit_check::state::LoopState;

pub use folder::StateFolder;

/// The size up to which a state is read. A real one is far smaller.
const LARGEST_STATE: SizeLimit = SizeLimit::of_bytes(16 << 20);

/// The reason why a state cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the state folder `{}` is a symbolic link", .0.display())]
    FolderLink(PathBuf),
    #[error("the folder of the log `{}` is a symbolic link", .0.display())]
    LogsLink(PathBuf),
    #[error(
        "`{}` has version {version}; this program reads {SCHEMA_VERSION}",
        path.display()
    )]
    OtherVersion { path: PathBuf, version: Value },
    /// There is no log to rebuild it from.
    #[error("`{}` is no state of a loop", path.display())]
    DamagedState {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Write(#[from] WriteError),
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

/// The file of the state. It has the names that scripts of the original read, and replaces the
/// original's file.
#[derive(Serialize)]
struct StateFile<'a> {
    schema_version: u32,
    #[serde(flatten)]
    state: &'a LoopState,
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
        let state = self.read(log::fold)?.flatten();
        self.check_file(state.is_some())?;
        Ok(state.unwrap_or_default())
    }

    /// Reads the log; `None` if there is none.
    fn read<T>(
        &self,
        read: impl FnOnce(&mut LogReader<'_, LoopEvent>) -> Result<T, LogError>,
    ) -> Result<Option<T>, StoreError> {
        match log::read(&self.folder.log(), read) {
            Err(LogError::Missing(_)) => Ok(None),
            content => Ok(Some(content?)),
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
        let (file, state) = Log::<LoopState>::open(&self.folder.log(), LockPolicy::Wait)?;
        self.check_file(state.is_some())?;
        let state = state.unwrap_or_default();
        let mut log = Log { file, state };
        let event = next(&log.state);
        log.record(&event, Durability::Unsynced)?;
        clear_leftovers(&self.folder.path, event.time);
        let file = StateFile {
            schema_version: SCHEMA_VERSION,
            state: &log.state,
        };
        let stale_file = write_json(&self.folder.state(), &file, Durability::Unsynced).err();
        Ok(Update {
            event,
            state: log.state,
            stale_file,
        })
    }

    /// Forgets all runs, circuits and totals; the log keeps them. Returns whether there was a
    /// state.
    pub fn reset(&self, now: Timestamp) -> Result<Option<Update>, StoreError> {
        let exists = self.folder.log().exists() || self.folder.state().exists();
        if !exists {
            return Ok(None);
        }
        self.update(|_| LoopEvent::new(now, LoopEventKind::Reset))
            .map(Some)
    }

    /// Returns the events of the log, oldest first, with an error for each damaged line.
    pub fn history(&self) -> Result<Vec<Result<LoopEvent, LogError>>, StoreError> {
        let read = self.read(|lines| {
            let events = lines.map(|event| match event {
                Err(unreadable @ LogError::Io { .. }) => Err(unreadable),
                event => Ok(event),
            });
            events.collect()
        });
        Ok(read?.unwrap_or_default())
    }

    /// Checks that the file of the state may be replaced.
    ///
    /// # Errors
    ///
    /// For one of another version, and for a file that is no state, which may be anything, unless
    /// the log has everything that it had.
    fn check_file(&self, has_events: bool) -> Result<(), StoreError> {
        let path = self.folder.state();
        let bytes = match files::read_own(&path, LARGEST_STATE) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(LogError::unreadable(&path, error).into()),
        };
        match serde_json::from_slice::<Map<String, Value>>(&bytes) {
            Ok(json) => match json.get("schema_version") {
                Some(version) if *version != SCHEMA_VERSION => {
                    let version = version.clone();
                    Err(StoreError::OtherVersion { path, version })
                }
                Some(_) | None => Ok(()),
            },
            Err(_) if has_events => Ok(()),
            Err(source) => Err(StoreError::DamagedState { path, source }),
        }
    }
}

/// Returns the id of a new run that has no name: the time of its beginning.
pub fn fresh_run(now: Timestamp) -> RunId {
    RunId(now.to_string())
}
