//! Whether a project's Git repository has a history: ten commits.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::context::ignores::git_folder;
use crate::files::process::{self, OutputPart, ProcessEnd, ProcessGroup};
use crate::files::{self, SizeLimit, git};

/// So many commits are a history.
const ENOUGH: usize = 10;

/// The time limit on Git. It counts in milliseconds, unless a repository is made to keep it busy.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Returns the folder that holds `.git`: the project's or one above it.
pub(super) fn repository(root: &Path) -> Option<PathBuf> {
    let mut folders = root.ancestors();
    folders
        .find(|folder| repository_files(folder).is_some())
        .map(Path::to_path_buf)
}

/// Returns whether a repository has a history. A shallow clone has at least one commit that it does
/// not hold, and counts as one.
pub(super) fn has_history(repository: &Path) -> bool {
    repository_files(repository).is_some_and(|git| {
        let commits = counted(&git).unwrap_or_else(|| logged(&git.join("logs/HEAD")));
        git.join("shallow").exists() || commits >= ENOUGH
    })
}

/// Returns the folder of Git's files, if they are a repository's.
fn repository_files(worktree: &Path) -> Option<PathBuf> {
    git_folder(worktree).filter(|folder| folder.join("HEAD").is_file())
}

/// Counts commits up to [`ENOUGH`] with Git. `None` without Git or a readable repository.
fn counted(git_folder: &Path) -> Option<usize> {
    let mut git = git::command([]);
    git.args(["rev-list", "--count"])
        .arg(format!("--max-count={ENOUGH}"))
        .args(["HEAD", "--"])
        .env("GIT_DIR", git_folder);
    let parts = (OutputPart::First(64), OutputPart::First(0));
    let (end, count, _) =
        process::run(git, ProcessGroup::Own, TIME_LIMIT, parts, &|| false).ok()?;
    let has_counted = matches!(end, ProcessEnd::Exited(status) if status.success());
    let count = String::from_utf8(count.bytes).ok().filter(|_| has_counted);
    count?.trim().parse().ok()
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
