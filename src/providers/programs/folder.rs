//! The folder of one call, in the system's folder for temporary files: for its owner alone, and
//! removed after the call.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf, absolute};

use tempfile::TempDir;

use super::command::WORKING;
use super::environment::Variables;
use crate::domain::model::program::{AnswerReader, Program};

/// Codex's folder, which has its login beside instructions and settings of the user.
const CODEX_HOME: &str = "CODEX_HOME";

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct ProgramFolder {
    pub root: TempDir,
    /// Variables that lead into it.
    pub variables: Vec<(String, String)>,
}

impl ProgramFolder {
    /// `own` are the variables of this process.
    pub(super) fn create(program: &Program, own: &Variables) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder
            .prefix("conclave-")
            .permissions(Permissions::from_mode(0o700));
        let root = builder.tempdir()?;
        fs::create_dir(root.path().join(WORKING))?;
        let mut variables = Vec::new();
        if let Some(home) = codex_home(program, own) {
            if has_own_codex_home(&home, own) {
                let own_home = root.path().join("codex");
                fs::create_dir(&own_home)?;
                if home.join(AUTH).exists() {
                    // Codex writes a refreshed login through the link.
                    symlink(home.join(AUTH), own_home.join(AUTH))?;
                }
                variables.push((CODEX_HOME.to_owned(), own_home.display().to_string()));
            } else if own.contains_key(CODEX_HOME) {
                variables.push((CODEX_HOME.to_owned(), home.display().to_string()));
            }
        }
        Ok(Self { root, variables })
    }
}

const AUTH: &str = "auth.json";

/// `None` for other programs.
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

/// A login in a keyring belongs to the folder that it was made in.
fn has_own_codex_home(home: &Path, own: &Variables) -> bool {
    home.join(AUTH).exists() || own.contains_key("CODEX_ACCESS_TOKEN")
}
