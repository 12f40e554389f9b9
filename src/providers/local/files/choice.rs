//! The choice of a run's model file: the user's own, the requested one, or the best installed one.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::files::{self, SizeLimit};

use super::home::ModelHome;
use super::manifest::DEFAULT;
use super::manifest::GgufModel;
use super::manifest::UnknownGgufModel;
use super::manifest::find;

/// A model file on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    pub name: String,
    pub file: PathBuf,
}

/// The state of a run's local model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalModelChoice {
    /// The file is installed.
    Ready(ModelFile),
    /// It must be downloaded first.
    ToPull(&'static GgufModel),
}

impl ModelFile {
    pub fn of(model: &GgufModel, file: PathBuf) -> Self {
        Self {
            name: model.name.to_owned(),
            file,
        }
    }
}

/// Errors of the choice.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    #[error(transparent)]
    Unknown(#[from] UnknownGgufModel),
    #[error("cannot read the model file `{}`", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("`{}` is not a model file in GGUF format", .path.display())]
    NotGguf { path: PathBuf },
}

/// Chooses the user's own file (`CONCLAVE_MODEL`), else the requested model, else an installed one,
/// else the default.
pub fn choose(
    own: Option<&Path>,
    wanted: Option<&str>,
    home: &ModelHome,
) -> Result<LocalModelChoice, ChoiceError> {
    if let Some(path) = own {
        return own_file(path);
    }
    let model = match wanted {
        Some(name) => find(name)?,
        None => home.best_installed().unwrap_or(&DEFAULT),
    };
    Ok(match home.installed(model) {
        Some(file) => LocalModelChoice::Ready(ModelFile::of(model, file)),
        None => LocalModelChoice::ToPull(model),
    })
}

/// Returns the name of the model that [`choose`] takes, without a look at any file of the user's.
pub fn default_name(own: Option<&Path>, wanted: Option<&str>, home: &ModelHome) -> String {
    match (own, wanted) {
        (Some(path), _) => own_name(path),
        (None, Some(name)) => find(name).map_or(name, |model| model.name).to_owned(),
        (None, None) => home.best_installed().unwrap_or(&DEFAULT).name.to_owned(),
    }
}

pub fn own_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}

/// Accepts any GGUF file, under its own name.
fn own_file(path: &Path) -> Result<LocalModelChoice, ChoiceError> {
    let mut start = [0; 4];
    let read = files::open(path, SizeLimit::NONE).and_then(|mut file| file.read_exact(&mut start));
    let file = path.to_owned();
    match read {
        Ok(()) if start == *b"GGUF" => {
            let name = own_name(path);
            Ok(LocalModelChoice::Ready(ModelFile { name, file }))
        }
        Err(source) if source.kind() != io::ErrorKind::UnexpectedEof => {
            Err(ChoiceError::Unreadable { path: file, source })
        }
        Ok(()) | Err(_) => Err(ChoiceError::NotGguf { path: file }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_file_comes_first_and_must_be_a_model() {
        let folder = tempfile::tempdir().unwrap();
        let home = ModelHome::in_home(folder.path());
        let own = folder.path().join("mine.gguf");
        assert!(matches!(
            choose(Some(&own), None, &home),
            Err(ChoiceError::Unreadable { .. })
        ));
        std::fs::write(&own, "no").unwrap();
        assert!(matches!(
            choose(Some(&own), None, &home),
            Err(ChoiceError::NotGguf { .. })
        ));
        std::fs::write(&own, "GGUF and so on").unwrap();
        assert_eq!(
            choose(Some(&own), Some("smollm2"), &home).unwrap(),
            LocalModelChoice::Ready(ModelFile {
                name: "mine".to_owned(),
                file: own
            })
        );
    }

    #[test]
    fn the_default_name_needs_no_readable_file() {
        let folder = tempfile::tempdir().unwrap();
        let home = ModelHome::in_home(folder.path());
        let missing = folder.path().join("mine.gguf");
        assert_eq!(default_name(Some(&missing), Some("smollm2"), &home), "mine");
        assert_eq!(
            default_name(None, Some("smollm2"), &home),
            find("smollm2").unwrap().name
        );
        assert_eq!(default_name(None, Some("none such"), &home), "none such");
        assert_eq!(default_name(None, None, &home), DEFAULT.name);
    }

    #[test]
    fn with_nothing_there_the_default_is_to_be_pulled() {
        let folder = tempfile::tempdir().unwrap();
        let home = ModelHome::in_home(folder.path());
        assert_eq!(
            choose(None, None, &home).unwrap(),
            LocalModelChoice::ToPull(&DEFAULT)
        );
        assert_eq!(
            choose(None, Some("smollm2"), &home).unwrap(),
            LocalModelChoice::ToPull(find("smollm2").unwrap())
        );
    }
}
