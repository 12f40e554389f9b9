//! The user's grade of an answer, in `consult-<id>.outcome.json` beside the record, written whole
//! or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::ids::ConsultationId;
use crate::domain::record::outcome::Grade;
use crate::files::write::{Durability, WriteError, write_json};
use crate::files::{self, SizeLimit};

const SUFFIX: &str = ".outcome.json";

pub fn path(logs: &Path, id: &ConsultationId) -> PathBuf {
    logs.join(format!("{id}{SUFFIX}"))
}

/// `None` where it is missing or unreadable.
pub fn read(logs: &Path, id: &ConsultationId) -> Option<Grade> {
    serde_json::from_slice(&files::read(&path(logs, id), SizeLimit::SMALL).ok()?).ok()
}

/// Replaces an earlier one.
pub fn write(logs: &Path, id: &ConsultationId, grade: &Grade) -> Result<(), WriteError> {
    write_json(&path(logs, id), grade, Durability::Synced)
}

/// A missing file is not an error.
pub fn remove(logs: &Path, id: &ConsultationId) -> Result<(), WriteError> {
    let path = path(logs, id);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(WriteError::new(&path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
