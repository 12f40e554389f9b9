//! The document that is refined, or the one that is written instead of it.
//!
//! It belongs to the person who edits it, also while the panel works: it is only replaced if it has
//! the text that was read from it. What remains of a race with an editor is stated in
//! [`compare_and_swap`](mod@crate::files::compare_and_swap).

use std::io;
use std::path::{Path, PathBuf};

use crate::files::compare_and_swap::{SwapOutcome, check_replaceable, compare_and_swap};
use crate::files::create::create_like;
use crate::files::write::WriteError;
use crate::files::{self, SizeLimit};
use crate::refinement::event::TextHash;

/// The reason why a document cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SpecFileError {
    #[error("there is no document `{}`", .0.display())]
    Missing(PathBuf),
    #[error("the document `{}` is empty", .0.display())]
    Empty(PathBuf),
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A person saved it after it was read. It is as that person saved it.
    #[error("`{}` was changed while the panel worked", .0.display())]
    Changed(PathBuf),
    #[error("there is already a file `{}`", .0.display())]
    Exists(PathBuf),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A document by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecFile {
    pub path: PathBuf,
}

impl SpecFile {
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// A file, or a link that leads nowhere.
    pub fn exists(&self) -> bool {
        self.path.symlink_metadata().is_ok()
    }

    /// Reads the whole text; a byte order mark is part of it.
    ///
    /// # Errors
    ///
    /// When it is no regular file, empty, larger than 16 MB or not UTF-8.
    pub fn read(&self) -> Result<String, SpecFileError> {
        let text =
            files::read_text(&self.path, SizeLimit::DOCUMENT).map_err(|source| {
                match source.kind() {
                    io::ErrorKind::NotFound => SpecFileError::Missing(self.path.clone()),
                    _ => SpecFileError::Read {
                        path: self.path.clone(),
                        source,
                    },
                }
            })?;
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Err(SpecFileError::Empty(self.path.clone()));
        }
        Ok(text)
    }

    /// Checks that the document can be replaced, before anything is paid for.
    ///
    /// # Errors
    ///
    /// When it or its folder is read-only, or it is missing.
    pub fn check_replaceable(&self) -> Result<(), SpecFileError> {
        check_replaceable(&self.path).map_err(|error| self.write_error(error))
    }

    /// Replaces the text if it is the expected one. A text that is the same already is not written.
    ///
    /// # Errors
    ///
    /// [`SpecFileError::Changed`] if it is another one; the document is as it was then, as after
    /// every other error.
    pub fn replace_if_unchanged(
        &self,
        expected: &TextHash,
        text: &str,
    ) -> Result<(), SpecFileError> {
        let failed = |error| self.write_error(error);
        check_length(text).map_err(failed)?;
        let is_expected = |bytes: &[u8]| {
            std::str::from_utf8(bytes).is_ok_and(|text| TextHash::of(text) == *expected)
        };
        let outcome = if TextHash::of(text) == *expected {
            let present = files::read(&self.path, SizeLimit::DOCUMENT).map_err(failed)?;
            if is_expected(&present) {
                SwapOutcome::Swapped
            } else {
                SwapOutcome::Changed
            }
        } else {
            let text = text.as_bytes();
            compare_and_swap(&self.path, &is_expected, text, SizeLimit::DOCUMENT).map_err(failed)?
        };
        match outcome {
            SwapOutcome::Swapped => Ok(()),
            SwapOutcome::Changed => Err(SpecFileError::Changed(self.path.clone())),
        }
    }

    /// Creates the document, with the readers of `source`.
    ///
    /// # Errors
    ///
    /// [`SpecFileError::Exists`] if something has its name.
    pub fn create(&self, source: &Self, text: &str) -> Result<(), SpecFileError> {
        let created = check_length(text)
            .and_then(|()| create_like(&self.path, &source.path, text.as_bytes()));
        created.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => SpecFileError::Exists(self.path.clone()),
            _ => WriteError::new(&self.path, error).into(),
        })
    }

    fn write_error(&self, error: io::Error) -> SpecFileError {
        match error.kind() {
            io::ErrorKind::NotFound => SpecFileError::Missing(self.path.clone()),
            _ => WriteError::new(&self.path, error).into(),
        }
    }
}

/// Checks that what is written can be read again.
fn check_length(text: &str) -> io::Result<()> {
    if text.len() as u64 > SizeLimit::DOCUMENT.bytes() {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(())
}
