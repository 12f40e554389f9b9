//! `exit-state.json`: the fold of the log, for scripts. It has the names that scripts of the original
//! read, and a file of the original is read where there is no log yet.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::files::write::{Access, WriteError, write_unsynced};
use crate::files::{self, SizeLimit};
use crate::stopping::exit_check::event::SCHEMA_VERSION;
use crate::stopping::exit_check::state::LoopState;
use crate::stopping::exit_check::totals::{DecisionTotals, SeedDecision};

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

/// Reads the totals of the original script's state; `None` if there is no file, or one of ours.
///
/// # Errors
///
/// For a file that is no state: it may be anything.
pub(super) fn foreign(path: &Path) -> Result<Option<DecisionTotals>, StoreError> {
    let failed = |error| StoreError::io(path, error);
    let Some(file) = log::open(path)? else {
        return Ok(None);
    };
    let bytes = files::read_to_end(file, LIMIT).map_err(failed)?;
    let damaged = |source| StoreError::DamagedState {
        path: path.to_owned(),
        source,
    };
    let json: Map<String, Value> = serde_json::from_slice(&bytes).map_err(damaged)?;
    match json.get("schema_version") {
        Some(version) => check_version(path, version).map(|()| None),
        None => Ok(Some(foreign_totals(&json))),
    }
}

pub(super) fn write(path: &Path, state: &LoopState) -> Result<(), WriteError> {
    let file = StateFile {
        schema_version: SCHEMA_VERSION,
        state,
    };
    let json =
        serde_json::to_vec_pretty(&file).map_err(|error| WriteError::new(path, error.into()))?;
    write_unsynced(path, &[json.as_slice(), b"\n"].concat(), Access::Own)
}

/// Returns the totals in a state of the original, which writes some numbers as text.
fn foreign_totals(json: &Map<String, Value>) -> DecisionTotals {
    let number = |value: &Value| match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_u64(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let count = |name: &str| json.get(name).and_then(number).unwrap_or(0);
    let history = |name: &str| {
        let entries = json.get(name).and_then(Value::as_array);
        entries.into_iter().flatten().map(number).collect()
    };
    let text = |name: &str| json.get(name).and_then(Value::as_str).unwrap_or_default();
    DecisionTotals {
        decision: match text("decision") {
            "CONTINUE" => Some(SeedDecision::Continue),
            "EXIT" => Some(SeedDecision::Exit),
            _ => None,
        },
        decision_reason: text("decision_reason").to_owned(),
        confidence_history: history("confidence_history"),
        completion_history: history("completion_history"),
        error_history: history("error_history"),
        total_decisions: count("total_decisions"),
        continue_count: count("continue_count"),
        exit_count: count("exit_count"),
    }
}
