//! The run that a person names.

use std::ffi::OsStr;
use std::path::Path;

use crate::benchmark::run::RunId;
use crate::config::paths::Home;
use crate::error::Error;
use crate::records::event_log::LogError;
use crate::records::lookup::LookupError;
use crate::records::runs::{RunStore, RunStoreError, StoredRun};

/// Runs that an error lists.
const MOST_LISTED: usize = 5;

pub(super) fn store(home: &Home) -> RunStore {
    RunStore::in_folder(home.runs_folder())
}

/// Finds a run by its id, a unique prefix, its folder, or `last`.
pub(super) fn find(store: &RunStore, name: &str) -> Result<RunId, Error> {
    store
        .find(name)
        .map_err(Error::usage)?
        .map_err(|error| match &error {
            LookupError::NotFound if name == "last" => Error::usage("there are no runs yet")
                .hint("begin one with `conclave benchmark SUITE`"),
            LookupError::NotFound => Error::usage(format!("there is no run `{name}`"))
                .hint("list the runs with `conclave benchmark list`"),
            LookupError::Ambiguous(runs) => {
                let named: Vec<&str> = runs.iter().take(MOST_LISTED).map(RunId::as_str).collect();
                Error::usage(format!("`{name}` could be several runs"))
                    .hint(format!("name one of them: {}", named.join(", ")))
            }
        })
}

/// Loads a run of the home, or one in a folder that was copied from another machine.
pub(super) fn load_anywhere(store: &RunStore, name: &str) -> Result<StoredRun, Error> {
    let folder = Path::new(name);
    let parent = folder
        .parent()
        .filter(|_| folder.join("log.jsonl").is_file());
    match (
        parent,
        folder
            .file_name()
            .and_then(OsStr::to_str)
            .and_then(RunId::parse),
    ) {
        (Some(parent), Some(id)) => load(&RunStore::in_folder(parent.to_owned()), &id),
        (Some(_) | None, _) => load(store, &find(store, name)?),
    }
}

/// Loads a run, whether or not a process runs it.
pub(super) fn load(store: &RunStore, run: &RunId) -> Result<StoredRun, Error> {
    store.load(run).map_err(unreadable)
}

/// Explains why a run cannot be used.
pub(super) fn unreadable(error: RunStoreError) -> Error {
    match &error {
        RunStoreError::Busy(_)
        | RunStoreError::Log(LogError::Busy(_) | LogError::NoLocks { .. }) => {
            Error::usage(error).hint("wait until that process has ended, or end it")
        }
        RunStoreError::Write(_)
        | RunStoreError::Log(LogError::Write(_) | LogError::Misfit { .. }) => Error::failed(error),
        RunStoreError::Folder { .. }
        | RunStoreError::Empty(_)
        | RunStoreError::Log(
            LogError::Missing(_)
            | LogError::Io { .. }
            | LogError::OtherVersion { .. }
            | LogError::DamagedLine { .. }
            | LogError::Contradiction { .. },
        ) => Error::usage(error),
    }
}
