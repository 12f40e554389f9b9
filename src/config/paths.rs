//! The paths of this program's files, and reading of optional ones.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::{self, SizeLimit};

use super::env::Environment;

/// The home directory of this program. It is created with the first file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

/// Neither a home of this program nor one of the user is known.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no home directory: set `CONCLAVE_HOME`")]
pub struct HomePathError;

impl Home {
    /// Returns `$CONCLAVE_HOME`, else `$LLM_CONCLAVE_HOME`, else `~/.llm-conclave`.
    pub fn find(environment: &Environment) -> Result<Self, HomePathError> {
        let first = |names: [&str; 2]| names.into_iter().find_map(|name| environment.path(name));
        first(["CONCLAVE_HOME", "LLM_CONCLAVE_HOME"])
            .or_else(|| Some(first(["HOME", "USERPROFILE"])?.join(".llm-conclave")))
            .map(Self)
            .ok_or(HomePathError)
    }

    /// Returns a home at a given path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the file of the user's settings.
    pub fn config_file(&self) -> PathBuf {
        self.0.join("config.json")
    }

    /// Returns the file of the user's own models and prices.
    pub fn models_file(&self) -> PathBuf {
        self.0.join("models.json")
    }

    /// Returns the file of the user's own rules and exceptions for the masking of secrets.
    pub fn scrub_file(&self) -> PathBuf {
        self.0.join("scrub.toml")
    }

    /// Returns the folder of journals, records and Markdown reports.
    pub fn logs_folder(&self) -> PathBuf {
        self.0.join("consult-logs")
    }

    /// Returns the folder of the runs of benchmarks.
    pub fn runs_folder(&self) -> PathBuf {
        self.0.join("runs")
    }

    /// Returns the file of the index over the records.
    pub fn index_file(&self) -> PathBuf {
        self.0.join("consult-analytics.db")
    }
}

/// Reads a text file, without the byte order mark that some editors put first. `None` when it does
/// not exist.
pub fn read_optional(path: &Path, limit: SizeLimit) -> io::Result<Option<String>> {
    match files::read_text(path, limit) {
        Ok(text) => Ok(Some(
            text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned(),
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A path that others can change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExposedPath {
    #[error("others may write `{}`", .0.display())]
    Writable(PathBuf),
    #[error("`{}` belongs to another user", .0.display())]
    Foreign(PathBuf),
}

impl ExposedPath {
    /// Returns the fix, for people.
    pub fn remedy(&self) -> String {
        match self {
            Self::Writable(path) => format!("run `chmod go-w '{}'`", path.display()),
            Self::Foreign(path) => format!(
                "check what is in it, and make it yours with `sudo chown \"$USER\" '{}'`",
                path.display()
            ),
        }
    }
}

/// Returns the file or its folder, if users other than this one and the system's can change it.
/// Where a link leads counts as well as where it is.
pub fn changeable_by_others(file: &Path) -> Option<ExposedPath> {
    use std::os::unix::fs::MetadataExt;

    const OTHERS_WRITE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    let target = file.canonicalize().ok()?;
    let places = [Some(target.as_path()), target.parent(), file.parent()];
    for path in places.into_iter().flatten() {
        let Ok(found) = path.metadata() else { continue };
        // In a sticky folder, only their owners can replace files.
        let is_sticky = found.is_dir() && found.mode() & STICKY != 0;
        if found.mode() & OTHERS_WRITE != 0 && !is_sticky {
            return Some(ExposedPath::Writable(path.to_owned()));
        }
        let own = rustix::process::geteuid().as_raw();
        if found.uid() != own && found.uid() != 0 {
            return Some(ExposedPath::Foreign(path.to_owned()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_home_is_where_the_variables_say_in_their_order() {
        let home = |own: &str, former: &str, users: &str| {
            let names = ["CONCLAVE_HOME", "LLM_CONCLAVE_HOME", "HOME"];
            let variables = names.into_iter().zip([own, former, users]);
            Home::find(&Environment::of(variables)).map(|home| home.0.display().to_string())
        };
        assert_eq!(home("/a", "/b", "/c").unwrap(), "/a");
        assert_eq!(home("", "/b", "/c").unwrap(), "/b");
        assert_eq!(home("", "", "/c").unwrap(), "/c/.llm-conclave");
        assert_eq!(home("", "", "").unwrap_err(), HomePathError);
    }

    #[test]
    fn a_file_that_is_not_there_is_no_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config.json");
        assert_eq!(read_optional(&file, SizeLimit::SETTINGS).unwrap(), None);
        fs::write(&file, "{ }").unwrap();
        assert_eq!(
            read_optional(&file, SizeLimit::SETTINGS)
                .unwrap()
                .as_deref(),
            Some("{ }")
        );
        fs::write(&file, "\u{feff}{ }").unwrap();
        assert_eq!(
            read_optional(&file, SizeLimit::SETTINGS)
                .unwrap()
                .as_deref(),
            Some("{ }")
        );
        assert!(read_optional(directory.path(), SizeLimit::SETTINGS).is_err());
    }
}
