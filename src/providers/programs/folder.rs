//! The folder of one call, in the system's folder for temporary files: for its owner alone, and
//! removed after the call. Those of a process that was killed are removed by a later one.

use std::env::temp_dir;
use std::fs::{self, DirEntry, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf, absolute};
use std::sync::Once;

use tempfile::TempDir;

use super::command::WORKING;
use super::environment::Variables;
use crate::domain::model::program::{AnswerReader, Program};
use crate::files::{FileLock, try_lock};

/// Codex's folder, which has its login beside instructions and settings of the user.
const CODEX_HOME: &str = "CODEX_HOME";

const AUTH: &str = "auth.json";

/// The beginning of the folders' names.
const PREFIX: &str = "conclave-program-";

/// Its process holds its lock.
const LOCK: &str = "lock";

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct ProgramFolder {
    pub root: TempDir,
    /// The variable that names the folder of Codex.
    pub home: Option<(String, String)>,
    _lock: Option<FileLock>,
}

impl ProgramFolder {
    /// `own` are the variables of this process.
    pub(super) fn create(program: &Program, own: &Variables) -> io::Result<Self> {
        static LEFTOVERS: Once = Once::new();
        LEFTOVERS.call_once(|| remove_leftovers(&temp_dir()));
        let mut builder = tempfile::Builder::new();
        builder
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700));
        let root = builder.tempdir()?;
        // No other process sees it before it is locked; without locks none removes it.
        let new = root.path().join("new");
        let lock = try_lock(&new).ok().flatten();
        fs::rename(new, root.path().join(LOCK))?;
        fs::create_dir(root.path().join(WORKING))?;
        let home = match codex_home(program, own) {
            Some(home) if !keeps_home(program, own) => {
                let own_home = root.path().join("codex");
                fs::create_dir(&own_home)?;
                if home.join(AUTH).exists() {
                    // Codex writes a refreshed login through the link.
                    symlink(home.join(AUTH), own_home.join(AUTH))?;
                }
                Some(own_home)
            }
            home => home.filter(|_| own.contains_key(CODEX_HOME)),
        };
        Ok(Self {
            root,
            home: home.map(|home| (CODEX_HOME.to_owned(), home.display().to_string())),
            _lock: lock,
        })
    }
}

/// Removes the folders of this user's processes that were killed.
pub(super) fn remove_leftovers(temporary: &Path) {
    let entries = fs::read_dir(temporary).into_iter().flatten().flatten();
    let is_own = |folder: &DirEntry| {
        let is_named = folder.file_name().to_string_lossy().starts_with(PREFIX);
        let user = rustix::process::geteuid().as_raw();
        is_named && folder.metadata().is_ok_and(|folder| folder.uid() == user)
    };
    for folder in entries.filter(is_own).map(|folder| folder.path()) {
        let lock = folder.join(LOCK);
        if lock.exists() && matches!(try_lock(&lock), Ok(Some(_))) {
            // What stays is found by the next process.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// The user's own folder; `None` for other programs.
fn codex_home(program: &Program, own: &Variables) -> Option<PathBuf> {
    let set = |name: &str| own.get(name).filter(|value| !value.is_empty());
    if program.reader != AnswerReader::Codex {
        return None;
    }
    let home = match set(CODEX_HOME) {
        Some(home) => PathBuf::from(home),
        None => Path::new(set("HOME")?).join(".codex"),
    };
    Some(absolute(&home).unwrap_or(home))
}

/// Whether Codex runs in the user's own folder: a login in a keyring belongs to the folder that it
/// was made in.
pub(super) fn keeps_home(program: &Program, own: &Variables) -> bool {
    let home = codex_home(program, own);
    home.is_some_and(|home| !home.join(AUTH).exists()) && !own.contains_key("CODEX_ACCESS_TOKEN")
}
