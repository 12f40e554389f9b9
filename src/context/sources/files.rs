//! Reads files that the person names.

use std::path::{Path, PathBuf};

use super::decode::{DecodeError, decode};
use super::error::{PathError, PathProblem, SourcesError, printable};
use super::{SourceLimits, SourceText};
use crate::domain::context::SourceKind;
use crate::files::{self, SizeLimit};

/// Reads files in the given order.
///
/// # Errors
///
/// Names every path that cannot be read.
pub fn read_files(
    paths: &[PathBuf],
    _limits: SourceLimits,
) -> Result<Vec<SourceText>, SourcesError> {
    let mut texts = Vec::new();
    let mut errors = Vec::new();
    for path in paths {
        match read(path) {
            Ok(text) => texts.push(SourceText {
                kind: SourceKind::File,
                name: printable(path),
                text,
            }),
            Err(problem) => errors.push(PathError::new(path, problem)),
        }
    }
    if errors.is_empty() {
        Ok(texts)
    } else {
        Err(SourcesError::Paths(errors))
    }
}

fn read(path: &Path) -> Result<String, PathProblem> {
    let bytes = files::read(path, SizeLimit::RECORD).map_err(|error| PathProblem::of_io(&error))?;
    decode(bytes).map_err(PathProblem::from)
}

impl From<DecodeError> for PathProblem {
    fn from(error: DecodeError) -> Self {
        Self::NotText(error)
    }
}
