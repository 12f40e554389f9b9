//! Stores the runs of benchmarks: a folder each, `runs/<run_id>/` in the home.
//!
//! `log.jsonl` is the truth: one event a line, only ever appended to. `state.json` is the fold of it
//! for scripts, written whole or not at all after each event; nothing here reads it. A process that
//! is killed at any moment leaves at most part of a line, which is no event, and a state that is one
//! event older than the log. Both are synced when a run halts and ends; before that, a power failure
//! can lose the last events, but not their consultations, which have journals of their own.
//!
//! The process that runs a run holds the lock of its log. Readers take no lock: whole lines never
//! change.

mod lookup;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::benchmark::event::{BenchmarkEvent, BenchmarkEventKind, RunBegun, SCHEMA_VERSION};
use crate::benchmark::run::RunId;
use crate::benchmark::state::{
    BenchmarkState, BenchmarkStateError, BenchmarkStateView, BenchmarkStatus,
};
use crate::domain::time::Timestamp;
use crate::files::write::{
    Durability, WriteError, clear_leftovers, create_private_dir, sync_folder, write_json,
};

use super::event_log::{self, EventLog, LogError, LogEvent, LogFold};
use super::journal::is_being_written;
use super::lookup::LookupError;

/// The reason why a run cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunStoreError {
    #[error("run `{0}` is being run by another process")]
    Busy(RunId),
    /// Its process was killed before the first event.
    #[error("`{}` has no events", .0.display())]
    Empty(PathBuf),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("cannot read `{}`", path.display())]
    Folder { path: PathBuf, source: io::Error },
}

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
    log: EventLog,
    state: BenchmarkState,
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
    pub fn create(&self, now: Timestamp, begun: RunBegun) -> Result<LockedRun, RunStoreError> {
        let files = self.files(&begun.run);
        create_private_dir(&self.folder)?;
        create_folder(&files.folder)?;
        let event = BenchmarkEvent::new(now, BenchmarkEventKind::Begun(Box::new(begun)));
        let mut log = EventLog::create(&files.log)?;
        let state = log.begin(&event, Durability::Synced)?;
        for folder in [&files.folder, &self.folder] {
            sync_folder(folder).map_err(|error| WriteError::new(folder, error))?;
        }
        let mut run = LockedRun {
            files,
            log,
            state,
            stale_file: None,
        };
        run.write_state(Durability::Unsynced);
        Ok(run)
    }

    /// Opens a run to continue it, and locks it. What a killed process left of a line is cut with
    /// the next event.
    ///
    /// # Errors
    ///
    /// When another process runs it, or its log cannot be read; nothing is changed then.
    pub fn open(&self, run: &RunId, now: Timestamp) -> Result<LockedRun, RunStoreError> {
        let files = self.files(run);
        let (log, state) = EventLog::open(&files.log).map_err(|error| match error {
            LogError::Busy(_) => RunStoreError::Busy(run.clone()),
            error => error.into(),
        })?;
        let state = state.ok_or_else(|| RunStoreError::Empty(files.log.clone()))?;
        clear_leftovers(&files.folder, now);
        Ok(LockedRun {
            files,
            log,
            state,
            stale_file: None,
        })
    }

    /// Reads a run, also while a process runs it.
    pub fn load(&self, run: &RunId) -> Result<StoredRun, RunStoreError> {
        let path = self.files(run).log;
        let mut state = fold(&path)?;
        let mut status = state.status();
        // Only an open run: the look at a lock holds it for a moment.
        if status == BenchmarkStatus::Running && !is_being_written(&path) {
            // Its process may have ended it after it was read.
            state = fold(&path)?;
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
    pub fn newest_first(&self) -> Result<Vec<RunId>, RunStoreError> {
        lookup::newest_first(&self.folder).map_err(|source| RunStoreError::Folder {
            path: self.folder.clone(),
            source,
        })
    }

    /// Finds the run that a user names: by its id, a unique prefix of it with or without `bench-`,
    /// its folder, or `last`.
    ///
    /// # Errors
    ///
    /// When the folder of runs cannot be read.
    pub fn find(&self, name: &str) -> Result<Result<RunId, LookupError<RunId>>, RunStoreError> {
        Ok(lookup::among(self.newest_first()?, name))
    }
}

impl StoredRun {
    /// Returns what scripts read of the run, with the status it really has.
    pub fn view(&self) -> BenchmarkStateView {
        self.state.view(self.status)
    }
}

impl LockedRun {
    pub fn state(&self) -> &BenchmarkState {
        &self.state
    }

    /// Logs an event, and the halt or the end that follows from it. Then writes the state.
    ///
    /// # Errors
    ///
    /// When an event cannot be logged, or an earlier one could not: the run must end here, and can
    /// be resumed from what the log has.
    pub fn record(
        &mut self,
        now: Timestamp,
        kind: BenchmarkEventKind,
    ) -> Result<(), RunStoreError> {
        let mut durability = self.log(now, kind)?;
        // A halt, and then the end: more cannot follow.
        while let Some(due) = self.state.due_event() {
            self.write_state(Durability::Unsynced);
            durability = self.log(now, due)?;
        }
        self.write_state(durability);
        Ok(())
    }

    fn log(
        &mut self,
        now: Timestamp,
        kind: BenchmarkEventKind,
    ) -> Result<Durability, RunStoreError> {
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
        self.log.record(&mut self.state, &event, durability)?;
        Ok(durability)
    }

    /// Returns why `state.json` is older than the log, if it is.
    pub fn stale_file(&self) -> Option<&WriteError> {
        self.stale_file.as_ref()
    }

    fn write_state(&mut self, durability: Durability) {
        let view = self.state.view(self.state.status());
        self.stale_file = write_json(&self.files.state, &view, durability).err();
    }
}

impl LogEvent for BenchmarkEvent {
    fn schema_version() -> Value {
        SCHEMA_VERSION.into()
    }
}

impl LogFold for BenchmarkState {
    type Event = BenchmarkEvent;
    type Error = BenchmarkStateError;

    fn begin(event: &BenchmarkEvent) -> Result<Self, BenchmarkStateError> {
        Self::begin(event)
    }

    fn apply(&mut self, event: &BenchmarkEvent) -> Result<(), BenchmarkStateError> {
        self.apply(event)
    }
}

fn fold(path: &Path) -> Result<BenchmarkState, RunStoreError> {
    event_log::fold(path)?.ok_or_else(|| RunStoreError::Empty(path.to_owned()))
}

/// Creates the folder of a new run, for its owner alone.
fn create_folder(path: &Path) -> Result<(), WriteError> {
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(path)
        .map_err(|error| WriteError::new(path, error))
}
