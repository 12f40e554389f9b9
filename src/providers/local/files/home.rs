//! The folder of model files in the home: files by their manifest name, and downloads as `.part`.
//!
//! Invariant: a file under its final name has had its hash checked.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::manifest::GgufModel;
use super::manifest::MODELS;

/// The folder of model files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelHome {
    pub folder: PathBuf,
}

/// The error for a folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("cannot create the folder `{}`", .path.display())]
    Make { path: PathBuf, source: io::Error },
    #[error("cannot remove `{}`", .path.display())]
    Remove { path: PathBuf, source: io::Error },
}

impl ModelHome {
    pub fn in_home(home: &Path) -> Self {
        Self::at(home.join("models"))
    }

    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The file need not exist.
    pub fn path(&self, model: &GgufModel) -> PathBuf {
        self.folder.join(model.file)
    }

    pub fn installed(&self, model: &GgufModel) -> Option<PathBuf> {
        let path = self.path(model);
        let whole =
            fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() == model.bytes);
        whole.then_some(path)
    }

    /// The default before the larger one, the smallest last.
    pub fn best_installed(&self) -> Option<&'static GgufModel> {
        MODELS
            .into_iter()
            .find(|model| self.installed(model).is_some())
    }

    pub(crate) fn part(&self, model: &GgufModel) -> PathBuf {
        self.folder.join(format!("{}.part", model.file))
    }

    pub(crate) fn lock(&self, model: &GgufModel) -> PathBuf {
        self.folder.join(format!("{}.lock", model.file))
    }

    /// Readable only by its owner.
    pub(crate) fn make(&self) -> Result<(), HomeError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&self.folder)
            .map_err(|source| HomeError::Make {
                path: self.folder.clone(),
                source,
            })
    }

    /// Returns whether there was one.
    pub fn remove(&self, model: &GgufModel) -> Result<bool, HomeError> {
        let mut removed = false;
        for path in [self.path(model), self.part(model), self.lock(model)] {
            match fs::remove_file(&path) {
                Ok(()) => removed = true,
                Err(source) if source.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(HomeError::Remove { path, source }),
            }
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::local::files::manifest::SMALLEST;

    #[test]
    fn a_file_that_is_not_whole_does_not_count_as_installed() {
        let home = tempfile::tempdir().unwrap();
        let models = ModelHome::in_home(home.path());
        models.make().unwrap();
        fs::write(models.path(&SMALLEST), b"cut short").unwrap();
        assert_eq!(models.installed(&SMALLEST), None);
        assert_eq!(models.best_installed(), None);
        assert!(models.remove(&SMALLEST).unwrap() && !models.remove(&SMALLEST).unwrap());
    }
}
