//! Reads the files of a suite as text, and keeps what a suite names within its folder.
//!
//! Suites come from other people, and what they name is sent to models.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::files::{self, SizeLimit};

use super::log::FileLog;

/// A file's text, or why there is none.
pub(super) fn read(path: &Path, log: &mut FileLog<'_>) -> io::Result<Option<String>> {
    let bytes = files::read(path, SizeLimit::SUITE)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => text,
        })),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let before = error.as_bytes().get(..valid).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            log.add(line, "not UTF-8 text; save it as UTF-8");
            Ok(None)
        }
    }
}

/// Returns the absolute path of a file below a folder, symbolic links resolved.
///
/// # Errors
///
/// The end of a sentence that begins with the file: it is outside, or not there.
pub(super) fn find(name: &str, folder: &Path) -> Result<PathBuf, String> {
    const OUTSIDE: &str = "is not in the folder of the suite";
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(name).components().all(is_plain) {
        return Err(OUTSIDE.to_owned());
    }
    let folder = fs::canonicalize(folder).map_err(|error| unusable(&error))?;
    let path = fs::canonicalize(folder.join(name)).map_err(|error| unusable(&error))?;
    if path.starts_with(&folder) {
        Ok(path)
    } else {
        Err(OUTSIDE.to_owned())
    }
}

/// Returns the end of a sentence that begins with a file that cannot be read.
pub(super) fn unusable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "does not exist".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}
