//! Stores the runs of benchmarks: a folder each, `runs/<run_id>/` in the home.
//!
//! `log.jsonl` is the truth: one event a line, only ever appended to. `state.json` is the fold of
//! it for scripts, written whole or not at all after each case, at most once a second; nothing here
//! reads it. A process that is killed at any moment leaves at most part of a line, which is no
//! event, and a state that is a second older than the log. Both are synced when a run halts and
//! ends; before that, a power failure can lose the last events, but not their consultations, which
//! have journals of their own.
//!
//! The process that runs a run holds the lock of its log. Readers take no lock: whole lines never
//! change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::benchmark::event::{BenchmarkEvent, BenchmarkEventKind, RunBegun};
use crate::benchmark::run::RunId;
use crate::benchmark::state::{BenchmarkState, BenchmarkStateView, BenchmarkStatus};
use crate::domain::time::Timestamp;
use crate::files::log::{self, LockPolicy, Log, LogError, LogFile};
use crate::files::write::{
    Access, Durability, WriteError, clear_leftovers, create_private_dir, sync_folder,
    write_atomically, write_json,
};

use super::journal::is_being_written;
use super::lookup::{self, LookupError};

/// The shortest time between two writes of the state: a new file for each of many short cases would
/// take longer than the cases.
const STATE_PAUSE: Duration = Duration::from_secs(1);

/// The runs in a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStore {
    folder: PathBuf,
}

/// The files of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFiles {
    pub folder: PathBuf,
    pub log: PathBuf,
    pub state: PathBuf,
}

/// A run as its log has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    pub state: BenchmarkState,
    /// `Interrupted` if the log is open and no process writes it.
    pub status: BenchmarkStatus,
}

/// A run that belongs to this process until this is dropped.
#[derive(Debug)]
pub struct LockedRun {
    pub files: RunFiles,
    log: Log<BenchmarkState>,
    /// `state.json` is older than the log.
    is_state_old: bool,
    /// When it was written last.
    state_at: Timestamp,
    stale_file: Option<WriteError>,
}

impl RunStore {
    /// Opens the store in the folder of runs, which is created with the first one.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn files(&self, run: &RunId) -> RunFiles {
        let folder = self.folder.join(run.as_str());
        RunFiles {
            log: folder.join("log.jsonl"),
            state: folder.join("state.json"),
            folder,
        }
    }

    /// Creates a run and locks it.
    ///
    /// # Errors
    ///
    /// When its folder exists already or cannot be written.
    pub fn create(&self, now: Timestamp, begun: RunBegun) -> Result<LockedRun, LogError> {
        let files = self.files(&begun.run);
        create_private_dir(&files.folder)?;
        let event = BenchmarkEvent::new(now, BenchmarkEventKind::Begun(Box::new(begun)));
        let log = Log::begin(LogFile::create(&files.log)?, &event, Durability::Synced)?;
        for folder in [&files.folder, &self.folder] {
            sync_folder(folder).map_err(|error| WriteError::new(folder, error))?;
        }
        let mut run = LockedRun::new(files, log, now);
        run.write_state(now, Durability::Unsynced);
        Ok(run)
    }

    /// Writes the log of a run that has a longer one elsewhere, and returns whether it did. A log
    /// here that is none of its beginnings stays, as one that a process writes.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn import(&self, run: &RunId, log: &[u8]) -> Result<bool, LogError> {
        let files = self.files(run);
        let own = match fs::read(&files.log) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            own => own.map_err(|error| LogError::unreadable(&files.log, error))?,
        };
        let is_older = log.len() > own.len() && log.starts_with(&own);
        if !is_older || is_being_written(&files.log) {
            return Ok(false);
        }
        create_private_dir(&files.folder)?;
        write_atomically(&files.log, log, Access::Own)?;
        Ok(true)
    }

    /// Opens a run to continue it, and locks it. What a killed process left of a line is cut with
    /// the next event.
    ///
    /// # Errors
    ///
    /// When another process runs it, or its log cannot be read; nothing is changed then.
    pub fn open(&self, run: &RunId, now: Timestamp) -> Result<LockedRun, LogError> {
        let files = self.files(run);
        let opened = Log::open(&files.log, LockPolicy::Refuse).map_err(|error| match error {
            LogError::Busy(_) => LogError::Busy(format!("run `{run}` is being run")),
            error => error,
        });
        let log = match opened? {
            (file, Some(state)) => Log { file, state },
            (_, None) => return Err(LogError::Empty(files.log)),
        };
        clear_leftovers(&files.folder, now);
        Ok(LockedRun::new(files, log, now))
    }

    /// Also while a process runs it.
    pub fn load(&self, run: &RunId) -> Result<StoredRun, LogError> {
        Self::load_log(&self.files(run).log)
    }

    /// As [`Self::load`], from a log in any folder.
    pub fn load_log(path: &Path) -> Result<StoredRun, LogError> {
        let mut state = fold(path)?;
        let mut status = state.status();
        // Only an open run: the look at a lock holds it for a moment.
        if status == BenchmarkStatus::Running && !is_being_written(path) {
            // Its process may have ended it after it was read.
            state = fold(path)?;
            status = match state.status() {
                BenchmarkStatus::Running => BenchmarkStatus::Interrupted,
                status => status,
            };
        }
        Ok(StoredRun { state, status })
    }

    /// Returns all runs, newest first; those without a readable log as well.
    ///
    /// # Errors
    ///
    /// When the folder of runs cannot be read.
    pub fn newest_first(&self) -> Result<Vec<RunId>, LogError> {
        let failed = |error| LogError::unreadable(&self.folder, error);
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut runs = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            runs.extend(name.to_str().and_then(RunId::parse));
        }
        runs.sort_unstable_by(|one, other| other.cmp(one));
        Ok(runs)
    }

    /// Finds the run that a user names: by its id, a unique prefix of it with or without `bench-`,
    /// its folder, or `last`.
    ///
    /// # Errors
    ///
    /// When the folder of runs cannot be read.
    pub fn find(&self, name: &str) -> Result<Result<RunId, LookupError<RunId>>, LogError> {
        Ok(lookup::among(self.newest_first()?, RunId::PREFIX, name))
    }
}

impl StoredRun {
    /// Returns what scripts read of the run, with the status it really has.
    pub fn view(&self) -> BenchmarkStateView {
        self.state.view(self.status)
    }
}

impl LockedRun {
    fn new(files: RunFiles, log: Log<BenchmarkState>, now: Timestamp) -> Self {
        Self {
            files,
            log,
            is_state_old: false,
            state_at: now,
            stale_file: None,
        }
    }

    pub fn state(&self) -> &BenchmarkState {
        &self.log.state
    }

    /// Logs an event, and the halt or the end that follows from it.
    ///
    /// # Errors
    ///
    /// When an event cannot be logged, or an earlier one could not: the run must end here, and can
    /// be resumed from what the log has.
    pub fn record(&mut self, now: Timestamp, kind: BenchmarkEventKind) -> Result<(), LogError> {
        let mut durability = self.log_event(now, kind)?;
        // A halt, and then the end: more cannot follow.
        while let Some(due) = self.state().due_event() {
            self.write_state(now, Durability::Unsynced);
            durability = self.log_event(now, due)?;
        }
        match durability {
            Durability::Synced => self.write_state(now, durability),
            Durability::Unsynced => self.is_state_old = true,
        }
        Ok(())
    }

    /// Returns when it is due then.
    pub fn refresh_state(&mut self, now: Timestamp) -> Option<Timestamp> {
        let due = self.state_at.after(STATE_PAUSE);
        if self.is_state_old && now < due {
            return Some(due);
        }
        self.write_old_state(now);
        None
    }

    /// Writes the state if it is older than the log.
    pub fn write_old_state(&mut self, now: Timestamp) {
        if self.is_state_old {
            self.write_state(now, Durability::Unsynced);
        }
    }

    fn log_event(
        &mut self,
        now: Timestamp,
        kind: BenchmarkEventKind,
    ) -> Result<Durability, LogError> {
        let durability = match kind {
            BenchmarkEventKind::Halted { .. } | BenchmarkEventKind::Ended => Durability::Synced,
            BenchmarkEventKind::Begun(_)
            | BenchmarkEventKind::Merged { .. }
            | BenchmarkEventKind::CaseRunStarted { .. }
            | BenchmarkEventKind::GradingStarted { .. }
            | BenchmarkEventKind::CaseRunFinished { .. }
            | BenchmarkEventKind::CaseRunDeferred(_)
            | BenchmarkEventKind::StopRequested(_)
            | BenchmarkEventKind::Resumed { .. } => Durability::Unsynced,
        };
        let event = BenchmarkEvent::new(now, kind);
        self.log.record(&event, durability)?;
        Ok(durability)
    }

    /// Returns why `state.json` is older than the log, if it is.
    pub fn stale_file(&self) -> Option<&WriteError> {
        self.stale_file.as_ref()
    }

    fn write_state(&mut self, now: Timestamp, durability: Durability) {
        (self.is_state_old, self.state_at) = (false, now);
        let view = self.state().view(self.state().status());
        self.stale_file = write_json(&self.files.state, &view, durability).err();
    }
}

fn fold(path: &Path) -> Result<BenchmarkState, LogError> {
    log::read(path, log::fold)?.ok_or_else(|| LogError::Empty(path.to_owned()))
}
