//! Whether a project's Git repository has a history: ten commits.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::files::{self, SizeLimit};

/// So many commits are a history.
const ENOUGH: usize = 10;

/// Returns the folder that holds `.git`: the project's or one above it.
pub(super) fn repository(root: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    let mut folders = root.ancestors();
    folders
        .find(|folder| git_folder(folder).is_some())
        .map(Path::to_path_buf)
}

/// Returns whether a repository has a history. A shallow clone has at least one commit that it does
/// not hold, and counts as one.
pub(super) fn has_history(repository: &Path) -> bool {
    git_folder(repository).is_some_and(|git| {
        let commits = counted(&git).unwrap_or_else(|| logged(&git.join("logs/HEAD")));
        git.join("shallow").exists() || commits >= ENOUGH
    })
}

/// Returns the folder of Git's files. In a linked working tree and in a submodule, `.git` is a file
/// that names it.
fn git_folder(worktree: &Path) -> Option<PathBuf> {
    let dot_git = worktree.join(".git");
    let folder = if dot_git.is_dir() {
        dot_git
    } else {
        let file = files::read_text(&dot_git, SizeLimit::SMALL).ok()?;
        worktree.join(file.strip_prefix("gitdir:")?.trim())
    };
    folder.join("HEAD").is_file().then_some(folder)
}

/// Counts commits up to [`ENOUGH`] with Git, which starts no other program for it and fetches
/// nothing. `None` without Git or a readable repository.
fn counted(git_folder: &Path) -> Option<usize> {
    let output = Command::new("git")
        .args(["rev-list", "--count"])
        .arg(format!("--max-count={ENOUGH}"))
        .args(["HEAD", "--"])
        .env("GIT_DIR", git_folder)
        .env("GIT_NO_LAZY_FETCH", "1")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// Counts the lines that the log of `HEAD` has for commits made here.
fn logged(log: &Path) -> usize {
    let text = files::read_text(log, SizeLimit::SMALL).unwrap_or_default();
    let made = ["\tcommit:", "\tcommit (initial)", "\tcommit (merge)"];
    let lines = text.lines();
    lines
        .filter(|line| made.iter().any(|made| line.contains(made)))
        .count()
}
