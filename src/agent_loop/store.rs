//! Keeps the state of an agent's loop in a folder, so that it survives crashes and several
//! processes.
//!
//! The log is the truth, and the state is its fold. After each event, the state also goes to a file
//! for scripts, whole or not at all, under the lock of the log. A killed process leaves at most
//! part of a line, which is not an event. Log and file are not synced: a sync takes longer than the
//! rest of a check, and a log without its last seconds is still a log.
//!
//! This program never overwrites a file that it cannot read.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent_loop::git::GitSnapshot;
use crate::domain::record::log::SCHEMA_VERSION;
use crate::domain::time::Timestamp;
use crate::files::log::{self, LockPolicy, Log, LogError, LogReader};
use crate::files::write::{
    Durability, WriteError, clear_leftovers, create_private_dir, write_json,
};
use crate::files::{self, SizeLimit};
use crate::stopping::exit_check::event::{LoopEvent, LoopEventKind};
use crate::stopping::exit_check::state::LoopState;

/// The folder in the current one that is used by default.
const CONCLAVE: &str = ".conclave";

/// The folder of loops that already exist; used if it alone is there.
const RALPH: &str = ".ralph";

/// Keeps the state out of commits and out of what counts as a change. The project's configuration
/// in the same folder can be committed.
const GITIGNORE: &str = "\
# The state of an agent's loop, written by conclave.
*
!config.*
";

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

/// A folder with the state of its loops. It is created with the first event.
#[derive(Clone, Debug)]
pub struct Store {
    pub path: PathBuf,
    /// The files have the names that those of a `.ralph` folder have.
    is_ralph: bool,
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
    /// A folder named `.ralph` has the file names of existing loops.
    pub fn named(path: &Path) -> Result<Self, StoreError> {
        let store = Self {
            path: path.to_owned(),
            is_ralph: path.file_name().is_some_and(|name| name == RALPH),
        };
        match store.log().parent() {
            Some(logs) if logs != path && logs.is_symlink() => {
                Err(StoreError::LogsLink(logs.to_owned()))
            }
            Some(_) | None => Ok(store),
        }
    }

    /// Opens the folder in `current`: `.conclave`, or `.ralph` if that alone exists.
    ///
    /// # Errors
    ///
    /// When it is a link, as the folder of the log may be: it may come with a foreign project and
    /// lead anywhere.
    pub fn find(current: &Path) -> Result<Self, StoreError> {
        let [conclave, ralph] = [CONCLAVE, RALPH].map(|name| current.join(name));
        // Whatever has the name, a broken link as well: using the other folder would hide it.
        let is_ralph = fs::symlink_metadata(&conclave).is_err() && ralph.is_dir();
        let path = if is_ralph { ralph } else { conclave };
        if path.is_symlink() {
            return Err(StoreError::FolderLink(path));
        }
        Self::named(&path)
    }

    /// Returns the log: one event a line, only ever appended to.
    pub fn log(&self) -> PathBuf {
        self.path.join(if self.is_ralph {
            "logs/exit-decisions_conclave.log"
        } else {
            "exit-log.jsonl"
        })
    }

    /// Returns the file of the state, which is rebuilt from the log.
    pub fn state(&self) -> PathBuf {
        self.path.join("exit-state.json")
    }

    pub fn default_response(&self) -> Option<PathBuf> {
        self.is_ralph.then(|| self.path.join("last-response.md"))
    }

    pub fn default_plan(&self) -> Option<PathBuf> {
        self.is_ralph.then(|| self.path.join("@fix_plan.md"))
    }

    /// They never count as a change of the working tree.
    pub fn own_files(&self) -> Vec<PathBuf> {
        if self.is_ralph {
            vec![self.state(), self.log(), GitSnapshot::path(&self.path)]
        } else {
            vec![self.path.clone()]
        }
    }

    /// Creates the folder, for its owner alone, if it does not exist.
    fn create(&self) -> Result<(), StoreError> {
        create_private_dir(&self.path)?;
        if let Some(folder) = self.log().parent() {
            create_private_dir(folder)?;
        }
        if !self.is_ralph {
            let path = self.path.join(".gitignore");
            ignore(&path).map_err(|error| WriteError::new(&path, error))?;
        }
        Ok(())
    }
    /// The state of a new loop if none is stored.
    pub fn load(&self) -> Result<LoopState, StoreError> {
        let state = self.read(log::fold)?.flatten();
        self.check_file(state.is_some())?;
        Ok(state.unwrap_or_default())
    }

    /// `None` if there is none.
    fn read<T>(
        &self,
        read: impl FnOnce(&mut LogReader<'_, LoopEvent>) -> Result<T, LogError>,
    ) -> Result<Option<T>, StoreError> {
        match log::read(&self.log(), read) {
            Err(LogError::Missing(_)) => Ok(None),
            content => Ok(Some(content?)),
        }
    }

    /// If the clock went backwards under a circuit that rests, this is recorded, as far as the
    /// folder can be written: else the circuit would rest longer.
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
        self.create()?;
        let (file, state) = Log::<LoopState>::open(&self.log(), LockPolicy::Wait)?;
        self.check_file(state.is_some())?;
        let state = state.unwrap_or_default();
        let mut log = Log { file, state };
        let event = next(&log.state);
        log.record(&event, Durability::Unsynced)?;
        clear_leftovers(&self.path, event.time);
        let file = StateFile {
            schema_version: SCHEMA_VERSION,
            state: &log.state,
        };
        let stale_file = write_json(&self.state(), &file, Durability::Unsynced).err();
        Ok(Update {
            event,
            state: log.state,
            stale_file,
        })
    }

    /// The log keeps them. Returns whether there was a state.
    pub fn reset(&self, now: Timestamp) -> Result<Option<Update>, StoreError> {
        let exists = self.log().exists() || self.state().exists();
        if !exists {
            return Ok(None);
        }
        self.update(|_| LoopEvent::new(now, LoopEventKind::Reset))
            .map(Some)
    }

    /// Oldest first, with an error for each damaged line.
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
        let path = self.state();
        let bytes = match files::read_own(&path, LARGEST_STATE) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
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

/// Writes the list of ignored files, unless there is one.
fn ignore(path: &Path) -> io::Result<()> {
    match fs::File::create_new(path) {
        Ok(mut file) => file.write_all(GITIGNORE.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
