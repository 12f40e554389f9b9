//! Whether Git has a file as it is, so that it can be replaced without a loss.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use super::program::Git;
use super::{GitError, IsInterrupted};

/// What Git says of a file: why the last commit does not have it as it is, or that it does.
#[derive(Debug)]
pub struct GitCleanliness(Option<String>);

impl GitCleanliness {
    pub fn is_clean(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Display for GitCleanliness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clean = "the last Git commit has it as it is";
        f.write_str(self.0.as_deref().unwrap_or(clean))
    }
}

/// Compares the content of a file with that of the last commit and of the index. A file that cannot
/// be compared is not clean.
pub fn is_clean_in_git(path: &Path, is_interrupted: IsInterrupted<'_>) -> GitCleanliness {
    if path.is_symlink() {
        return GitCleanliness(Some("it is a symbolic link".to_owned()));
    }
    let Ok(target) = path.canonicalize() else {
        return GitCleanliness(Some("it cannot be found".to_owned()));
    };
    GitCleanliness(match is_committed(&target, is_interrupted) {
        Ok(true) => None,
        Ok(false) => Some("the last Git commit does not have it as it is".to_owned()),
        Err(GitError::NotARepository) => Some("its folder is not in a Git working tree".to_owned()),
        Err(error) => Some(format!("Git cannot tell: {error}")),
    })
}

fn is_committed(target: &Path, is_interrupted: IsInterrupted<'_>) -> Result<bool, GitError> {
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return Ok(false);
    };
    let git = Git::find(folder, is_interrupted)?;
    let in_tree = |start: &str| {
        let mut revision = OsString::from(start);
        revision.push(name);
        git.object(folder, &revision)
    };
    let (committed, staged) = (in_tree("HEAD:./")?, in_tree(":./")?);
    let own = git.run("hash-object", &["--".as_ref(), name])?;
    let is_own = |committed: String| committed.as_bytes() == own.trim_ascii_end();
    Ok(committed == staged && committed.is_some_and(is_own))
}
