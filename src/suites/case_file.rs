//! The files of a suite, by their paths.
//!
//! Suites come from other people, and what they name is sent to models: it is kept within the
//! folder of the suite.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use crate::files::resolved;
use crate::files::write::folder_of;

/// A file with cases, or a folder.
#[derive(Clone, Debug)]
pub(super) struct CaseFile {
    /// Its path, as it is shown.
    pub(super) shown: Arc<str>,
    /// Its path; resolved.
    pub(super) path: Arc<Path>,
    /// The folder that holds what it names; resolved.
    pub(super) folder: Arc<Path>,
}

impl CaseFile {
    /// A link is followed.
    pub(super) fn named(path: &Path) -> io::Result<Self> {
        Ok(Self {
            shown: shown_path(path),
            path: fs::canonicalize(path)?.into(),
            folder: fs::canonicalize(folder_of(path))?.into(),
        })
    }

    /// In its folder or below it.
    pub(super) fn sibling(&self, name: &Path) -> io::Result<Self> {
        let shown = Path::new(&*self.shown).with_file_name(name);
        Self::below(&self.folder, name, shown_path(&shown))
    }

    pub(super) fn inner(&self, name: &Path) -> io::Result<Self> {
        Self::below(&self.path, name, self.shown_inner(name))
    }

    pub(super) fn shown_inner(&self, name: &Path) -> Arc<str> {
        shown_path(&Path::new(&*self.shown).join(name))
    }

    fn below(folder: &Path, name: &Path, shown: Arc<str>) -> io::Result<Self> {
        let path = path_inside(name, folder)?;
        Ok(Self {
            shown,
            folder: path.parent().unwrap_or(&path).into(),
            path: path.into(),
        })
    }

    /// In lower case, without the dot.
    pub(super) fn extension(&self) -> String {
        let extension = Path::new(&*self.shown).extension();
        let extension = extension.map(|ending| ending.to_string_lossy().to_lowercase());
        extension.unwrap_or_default()
    }
}

/// Returns the path of a file below a folder, resolved: it is to be opened without following links.
///
/// # Errors
///
/// When it is outside, or not there; [`unusable`] has the words.
pub(super) fn path_inside(name: &Path, folder: &Path) -> io::Result<PathBuf> {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !name.components().all(is_plain) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    resolved::within(folder, name)
}

/// Returns the end of a sentence that begins with a file that cannot be read.
pub(super) fn unusable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::InvalidInput => "is not in the folder of the suite".to_owned(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "does not exist".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

/// Returns the text of a file without its byte order mark, or the line that is not UTF-8.
pub(super) fn text_of(bytes: &[u8]) -> Result<&str, usize> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        memchr::memchr_iter(b'\n', before).count() + 1
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

pub(super) fn shown_path(path: &Path) -> Arc<str> {
    printable(&path.to_string_lossy()).into()
}

/// Returns a text without characters that act on a terminal or begin a line.
pub(super) fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}
