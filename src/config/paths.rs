//! Where this program keeps its files, and for whose eyes: directories 0700, files 0600.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::env::Environment;

/// The home directory of this program. Nothing is created before something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

/// Neither a home of this program nor one of the user is known.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no home directory: set `CONCLAVE_HOME`")]
pub struct NoHome;

impl Home {
    /// `$CONCLAVE_HOME`, else `$LLM_CONCLAVE_HOME`, else `~/.llm-conclave`.
    pub fn find(environment: &Environment) -> Result<Self, NoHome> {
        let own = ["CONCLAVE_HOME", "LLM_CONCLAVE_HOME"].iter().find_map(|name| environment.path(name));
        let users = || ["HOME", "USERPROFILE"].iter().find_map(|name| environment.path(name));
        own.or_else(|| Some(users()?.join(".llm-conclave"))).map(Self).ok_or(NoHome)
    }

    /// A home at a given place.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The user's settings.
    pub fn config_file(&self) -> PathBuf {
        self.0.join("config.json")
    }

    /// The user's own models and prices.
    pub fn models_file(&self) -> PathBuf {
        self.0.join("models.json")
    }
}

/// Makes a directory, and what leads to it, for the user alone. One that exists is left as it is.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file for the user alone, with the given options; it is created when `options` say so.
pub fn open_private(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// Writes a whole file for the user alone, so that a reader sees the old content or the new, never a part.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_private_dir(directory)?;
    // Temporary files are 0600 from the start.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    io::Write::write_all(&mut file, content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Reads a file of text that may not be there.
pub fn read_optional(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_where_the_variables_say_in_their_order() {
        let home = |variables: &[(&'static str, &str)]| {
            Home::find(&Environment::of(variables.iter().map(|(name, value)| (*name, *value)))).map(|home| home.0)
        };
        assert_eq!(home(&[("CONCLAVE_HOME", "/a"), ("LLM_CONCLAVE_HOME", "/b"), ("HOME", "/c")]).unwrap(), Path::new("/a"));
        assert_eq!(home(&[("CONCLAVE_HOME", ""), ("LLM_CONCLAVE_HOME", "/b"), ("HOME", "/c")]).unwrap(), Path::new("/b"));
        assert_eq!(home(&[("HOME", "/c")]).unwrap(), Path::new("/c/.llm-conclave"));
        assert_eq!(home(&[]).unwrap_err(), NoHome);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_written_is_for_the_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("home/config.json");
        write_private(&file, b"{}").unwrap();
        write_private(&file, b"{ }").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        let journal = directory.path().join("journal");
        open_private(&journal, OpenOptions::new().create(true).append(true)).unwrap();
        assert_eq!(mode(&journal), 0o600);
        assert_eq!((read_optional(&file).unwrap().as_deref(), read_optional(&directory.path().join("none")).unwrap()), (Some("{ }"), None));
    }
}
