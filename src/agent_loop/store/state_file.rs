//! `exit-state.json`: the fold of the log, for scripts. It has the names that scripts of the original
//! read, and replaces the original's file.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::files::write::{Durability, WriteError, write_json};
use crate::files::{self, SizeLimit};
use crate::stopping::exit_check::event::SCHEMA_VERSION;
use crate::stopping::exit_check::state::LoopState;

use super::{StoreError, check_version, log};

/// The size up to which a state is read. A real one is far smaller.
const LIMIT: SizeLimit = SizeLimit::of_bytes(16 << 20);

/// The state as it is written.
#[derive(Serialize)]
struct StateFile<'a> {
    schema_version: u32,
    #[serde(flatten)]
    state: &'a LoopState,
}

/// Checks that the file may be replaced where there is no log to rebuild it from.
///
/// # Errors
///
/// For a file that is no state, which may be anything, and for one of another version.
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::io(path, error);
    let Some(file) = log::open(path)? else {
        return Ok(());
    };
    let bytes = files::read_to_end(file, LIMIT).map_err(failed)?;
    let damaged = |source| StoreError::DamagedState {
        path: path.to_owned(),
        source,
    };
    let json: Map<String, Value> = serde_json::from_slice(&bytes).map_err(damaged)?;
    match json.get("schema_version") {
        Some(version) => check_version(path, version),
        None => Ok(()),
    }
}

pub(super) fn write(path: &Path, state: &LoopState) -> Result<(), WriteError> {
    let file = StateFile {
        schema_version: SCHEMA_VERSION,
        state,
    };
    write_json(path, &file, Durability::Unsynced)
}
