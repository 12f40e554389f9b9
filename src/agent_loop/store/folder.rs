//! The folder that keeps the state of a loop, and the names of its files.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::files::write::{WriteError, create_private_dir};

use super::StoreError;
use crate::agent_loop::git::GitSnapshot;

/// The folder in the current one that is used by default.
const CONCLAVE: &str = ".conclave";

/// The folder of loops that already exist; used if it alone is there.
const RALPH: &str = ".ralph";

/// Keeps the state out of commits and out of what counts as a change. The project's configuration
/// in the same folder can be committed.
const GITIGNORE: &str = "\
# The state of an agent's loop, written by conclave.
*
!config.*
";

/// A folder with the state of a loop. It need not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFolder {
    pub path: PathBuf,
    /// The files have the names that those of a `.ralph` folder have.
    is_ralph: bool,
    /// A person chose it.
    is_named: bool,
}

impl StateFolder {
    /// Returns the folder that a person names. One named `.ralph` has the names of that folder.
    pub fn named(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            is_ralph: path.file_name().is_some_and(|name| name == RALPH),
            is_named: true,
        }
    }

    /// Returns the folder in `current`: `.conclave`, or `.ralph` if that alone exists.
    pub fn find(current: &Path) -> Self {
        let [conclave, ralph] = [CONCLAVE, RALPH].map(|name| current.join(name));
        // Whatever has the name, a broken link as well: using the other folder would hide it.
        let is_ralph = fs::symlink_metadata(&conclave).is_err() && ralph.is_dir();
        Self {
            path: if is_ralph { ralph } else { conclave },
            is_ralph,
            is_named: false,
        }
    }

    /// Returns the log: one event a line, only ever appended to.
    pub fn log(&self) -> PathBuf {
        self.path.join(if self.is_ralph {
            "logs/exit-decisions_conclave.log"
        } else {
            "exit-log.jsonl"
        })
    }

    /// Returns the file of the state, which is rebuilt from the log.
    pub fn state(&self) -> PathBuf {
        self.path.join("exit-state.json")
    }

    /// Returns the response that is read when none is named.
    pub fn default_response(&self) -> Option<PathBuf> {
        self.is_ralph.then(|| self.path.join("last-response.md"))
    }

    /// Returns the checklist that is read when none is named.
    pub fn default_plan(&self) -> Option<PathBuf> {
        self.is_ralph.then(|| self.path.join("@fix_plan.md"))
    }

    /// Returns what each check writes. It never counts as a change of the working tree.
    pub fn own_files(&self) -> Vec<PathBuf> {
        if self.is_ralph {
            vec![self.state(), self.log(), GitSnapshot::path(&self.path)]
        } else {
            vec![self.path.clone()]
        }
    }

    /// Checks that the folder is used where it seems to be: a link in its default place, or in that
    /// of the folder of the log, may come with a foreign project and lead anywhere.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if !self.is_named && self.path.is_symlink() {
            return Err(StoreError::FolderLink(self.path.clone()));
        }
        match self.log().parent() {
            Some(logs) if logs != self.path && logs.is_symlink() => {
                Err(StoreError::LogsLink(logs.to_owned()))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Creates the folder, for its owner alone, if it does not exist.
    pub(super) fn create(&self) -> Result<(), StoreError> {
        create_private_dir(&self.path)?;
        if let Some(folder) = self.log().parent() {
            create_private_dir(folder)?;
        }
        if !self.is_ralph {
            let path = self.path.join(".gitignore");
            ignore(&path).map_err(|error| WriteError::new(&path, error))?;
        }
        Ok(())
    }
}

/// Writes the list of ignored files, unless there is one.
fn ignore(path: &Path) -> io::Result<()> {
    match fs::File::create_new(path) {
        Ok(mut file) => file.write_all(GITIGNORE.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
