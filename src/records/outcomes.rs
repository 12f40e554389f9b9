//! Where it is kept what became of an answer: `consult-<id>.outcome.json` beside the record,
//! written whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::outcome::Grade;

use super::files::{Access, WriteError, write_atomically};

/// What its file's name ends with.
pub const ENDING: &str = "outcome.json";

/// Where the grade of a consultation lies; `stem` is the name of its files without their endings.
pub fn path(logs: &Path, stem: &str) -> PathBuf {
    logs.join(format!("{stem}.{ENDING}"))
}

/// Reads a grade; `None` where there is none, or none that can be read.
pub fn read(logs: &Path, stem: &str) -> Option<Grade> {
    serde_json::from_slice(&fs::read(path(logs, stem)).ok()?).ok()
}

/// Keeps a grade in the place of an earlier one.
pub fn write(logs: &Path, stem: &str, grade: &Grade) -> Result<(), WriteError> {
    let path = path(logs, stem);
    let mut json =
        serde_json::to_vec_pretty(grade).map_err(|error| WriteError::new(&path, error.into()))?;
    json.push(b'\n');
    write_atomically(&path, &json, Access::Private)
}

/// Takes a grade back. No grade is no error.
pub fn remove(logs: &Path, stem: &str) -> Result<(), WriteError> {
    let path = path(logs, stem);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(WriteError::new(&path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
