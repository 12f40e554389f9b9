//! The state of the Git working tree: the commit, and a hash of everything that differs from it;
//! and whether Git can bring back a file.
//!
//! This module runs `git` itself, so that ignored files, sparse trees and line endings are as the
//! user knows them. A run changes nothing, not even the index, and starts no program that the
//! repository's settings name: an agent can write those settings.
//!
//! In submodules, and in repositories inside the tree, only commits count.

mod program;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use self::program::{Git, GitStatus};
use crate::domain::hash::hex;
use crate::files::process::IsInterrupted;
use crate::files::write::{Access, WriteError, write_atomically};
use crate::files::{self, SizeLimit};
use crate::stopping::exit_check::evidence::GitState;

/// Repositories inside the working tree of which the commit is looked up.
const MAX_INNER_REPOSITORIES: usize = 50;

/// The reason why the working tree cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("`git` cannot be run")]
    Unstartable(#[source] io::Error),
    #[error("the current folder is not in a Git working tree")]
    NotARepository,
    #[error("`git {command}` failed: {reason}")]
    Failed {
        command: &'static str,
        reason: String,
    },
    #[error("`git {command}` did not finish within {seconds} s")]
    TooSlow { command: &'static str, seconds: u64 },
    #[error("too many files differ from the last commit")]
    TooManyFiles,
    #[error("reading the Git working tree was interrupted")]
    Interrupted,
}

/// The commit, and the files that differ from it, by their paths from the top of the working tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingTree {
    /// `None` before the first commit.
    head: Option<String>,
    /// With a hash of each; a path that is not UTF-8 has replacement characters.
    files: BTreeMap<String, String>,
}

/// Measures the working tree that a folder is in.
///
/// Files and folders among `ignored` do not count: the state of the loop, and what the loop itself
/// writes. They need not exist.
pub fn measure(
    folder: &Path,
    ignored: &[PathBuf],
    is_interrupted: IsInterrupted<'_>,
) -> Result<WorkingTree, GitError> {
    let git = Git::find(folder, is_interrupted)?;
    // Git in a submodule would follow the submodule's own settings.
    let options = "--porcelain=v2 -z --branch --no-ahead-behind --untracked-files=all \
                   --no-renames --ignore-submodules=dirty";
    let options: Vec<&str> = options.split(' ').collect();
    let status = GitStatus::parse(&git.run("status", &options)?);
    let ignored = paths_in_tree(ignored, &git.top);
    let mut tree = WorkingTree {
        head: status.head,
        files: BTreeMap::new(),
    };
    let (mut inner_repositories, mut budget) = (0, MAX_HASHED);
    for path in status.paths {
        if ignored.iter().any(|ignored| is_within(&path, ignored)) {
            continue;
        }
        let on_disk = path.strip_suffix(b"/").unwrap_or(&path);
        let on_disk = git.top.join(program::path(on_disk));
        let hash = if on_disk.is_dir() && !on_disk.is_symlink() {
            inner_repositories += 1;
            let is_looked_up = inner_repositories <= MAX_INNER_REPOSITORIES;
            let head = is_looked_up
                .then(|| git.object(&on_disk, "HEAD".as_ref()))
                .transpose()?;
            head.flatten().unwrap_or_default()
        } else {
            state_of(&on_disk, &mut budget)
        };
        let path = String::from_utf8_lossy(&path).into_owned();
        tree.files.insert(path, hash);
        if is_interrupted() {
            return Err(GitError::Interrupted);
        }
    }
    Ok(tree)
}

impl WorkingTree {
    /// Returns the evidence; `earlier` is the same folder's tree at the last check.
    ///
    /// A file has changed if a commit since then has changed it, or if its content outside of
    /// commits has: also one that was committed, removed or brought back to the commit.
    pub fn state(
        &self,
        folder: &Path,
        earlier: Option<&Self>,
        is_interrupted: IsInterrupted<'_>,
    ) -> Result<GitState, GitError> {
        let mut state = GitState {
            head: self.head.clone(),
            tree: self.hash(),
            changed_files: None,
        };
        let Some(earlier) = earlier else {
            return Ok(state);
        };
        let paths = self.files.keys().chain(earlier.files.keys());
        let differs = |path: &&String| self.files.get(*path) != earlier.files.get(*path);
        let mut changed: BTreeSet<String> = paths.filter(differs).cloned().collect();
        if self.head != earlier.head {
            let git = Git::find(folder, is_interrupted)?;
            let committed = git.changed_between(earlier.head.as_deref(), self.head.as_deref())?;
            let names = committed.iter().map(|path| String::from_utf8_lossy(path));
            changed.extend(names.map(Cow::into_owned));
        }
        state.changed_files = Some(changed.len() as u64);
        Ok(state)
    }

    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for text in self.files.iter().flat_map(|(path, hash)| [path, hash]) {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hex(&hash.finalize())
    }
}

/// Returns the paths from the top of the working tree, without those outside of it.
fn paths_in_tree(paths: &[PathBuf], top: &Path) -> Vec<Vec<u8>> {
    let Ok(top) = top.canonicalize() else {
        return Vec::new();
    };
    let canonical = |path: &PathBuf| {
        // A file that is yet to be written has a folder.
        path.canonicalize().ok().or_else(|| {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        })
    };
    let relative = |path: PathBuf| Some(program::bytes(path.strip_prefix(&top).ok()?).to_vec());
    let inside = paths.iter().filter_map(canonical).filter_map(relative);
    inside.filter(|path| !path.is_empty()).collect()
}

fn is_within(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// The most bytes that are hashed in one check.
const MAX_HASHED: u64 = 256 << 20;

/// Of a file above the limit or the rest of the budget, the length and the time of its last change
/// count.
fn state_of(path: &Path, budget: &mut u64) -> String {
    const LARGEST: u64 = 16 << 20;
    let Ok(metadata) = path.symlink_metadata() else {
        return "absent".to_owned();
    };
    let content = if metadata.is_symlink() {
        let target = path.read_link().unwrap_or_default();
        program::bytes(&target).to_vec()
    } else if metadata.is_file() && metadata.len() <= LARGEST.min(*budget) {
        *budget -= metadata.len();
        files::read(path, SizeLimit::of_bytes(LARGEST)).unwrap_or_default()
    } else {
        format!("{} {:?}", metadata.len(), metadata.modified().ok()).into_bytes()
    };
    // The kind, and whether it is a program.
    let mode = metadata.mode() & 0o170_100;
    format!("{mode:o} {}", hex(&Sha256::digest(content)))
}

const FILE_NAME: &str = "git-snapshot.json";

const LIMIT: SizeLimit = SizeLimit::of_bytes(128 << 20);

/// A working tree, and the check that saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitSnapshot {
    pub check: String,
    pub tree: WorkingTree,
}

impl GitSnapshot {
    pub fn path(folder: &Path) -> PathBuf {
        folder.join(FILE_NAME)
    }

    pub fn read(folder: &Path) -> Option<Self> {
        let bytes = files::read(&Self::path(folder), LIMIT).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        let path = Self::path(folder);
        let bytes =
            serde_json::to_vec(self).map_err(|error| WriteError::new(&path, error.into()))?;
        write_atomically(&path, &bytes, Access::Own)
    }
}

/// Compares the content of a file with that of the last commit and of the index, and returns why it
/// cannot be replaced without a loss, if so.
pub fn check_clean(path: &Path, is_interrupted: IsInterrupted<'_>) -> Result<(), String> {
    if path.is_symlink() {
        return Err("it is a symbolic link".to_owned());
    }
    let Ok(target) = path.canonicalize() else {
        return Err("it cannot be found".to_owned());
    };
    match is_committed(&target, is_interrupted) {
        Ok(true) => Ok(()),
        Ok(false) => Err("the last Git commit does not have it as it is".to_owned()),
        Err(GitError::NotARepository) => Err("its folder is not in a Git working tree".to_owned()),
        Err(error) => Err(format!("Git cannot tell: {error}")),
    }
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

#[cfg(test)]
mod tests;
