//! `state.json`: the fold of the log for scripts.

use std::path::Path;

use crate::benchmark::state::BenchmarkStateView;
use crate::domain::text::pretty_json;
use crate::files::write::{Access, Durability, WriteError, write_atomically, write_unsynced};

pub(super) fn write(
    path: &Path,
    view: &BenchmarkStateView,
    durability: Durability,
) -> Result<(), WriteError> {
    let mut json = pretty_json(view).map_err(|error| WriteError::new(path, error.into()))?;
    json.push('\n');
    match durability {
        Durability::Synced => write_atomically(path, json.as_bytes(), Access::Own),
        Durability::Unsynced => write_unsynced(path, json.as_bytes(), Access::Own),
    }
}
