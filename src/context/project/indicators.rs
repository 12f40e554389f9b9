//! The indicators of an existing project: source files, manifests, configuration, documentation and
//! history. Three of the five kinds make it one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::tree::Tree;
use crate::context::ignores::git_folder;
use crate::files::process::{self, OutputPart, ProcessEnd, ProcessGroup};
use crate::files::{self, SizeLimit, git};

/// So many kinds of indicators make a project an existing one.
const ENOUGH: usize = 3;
/// So many source files are an indicator.
const SOURCE_FILES: u64 = 10;
/// So many names are listed of each kind.
const NAMES: usize = 3;

/// `package.json`, `src/`, `git`; and whether they make an existing project.
pub(super) fn find(tree: &Tree, has_history: bool) -> (Vec<String>, bool) {
    let kinds = [
        first_names(&tree.manifests),
        first_names(&tree.configuration),
        first_names(&tree.documents),
        source_folder(tree).into_iter().collect(),
        has_history.then(|| "git".to_owned()).into_iter().collect(),
    ];
    let present = kinds.iter().filter(|names| !names.is_empty()).count();
    (kinds.concat(), present >= ENOUGH)
}

fn first_names(paths: &[String]) -> Vec<String> {
    paths.iter().take(NAMES).cloned().collect()
}

/// `./` if most are at the top itself. None below [`SOURCE_FILES`].
fn source_folder(tree: &Tree) -> Option<String> {
    if tree.sources() < SOURCE_FILES {
        return None;
    }
    let mut folders: BTreeMap<&str, u64> = BTreeMap::new();
    for (folder, files) in &tree.folders {
        let top = folder.split('/').next().unwrap_or_default();
        *folders.entry(top).or_default() += files;
    }
    let (folder, _) = folders.into_iter().max_by_key(|(_, files)| *files)?;
    Some(format!("{}/", if folder.is_empty() { "." } else { folder }))
}

/// So many commits are a history.
const ENOUGH_COMMITS: usize = 10;

/// The time limit on Git. It counts in milliseconds, unless a repository is made to keep it busy.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// The project's or one above it.
pub(super) fn repository(root: &Path) -> Option<PathBuf> {
    let mut folders = root.ancestors();
    folders
        .find(|folder| repository_files(folder).is_some())
        .map(Path::to_path_buf)
}

/// A shallow clone has at least one commit that it does not hold, and counts as one.
pub(super) fn has_history(repository: &Path) -> bool {
    repository_files(repository).is_some_and(|git| {
        let commits = counted(&git).unwrap_or_else(|| logged(&git.join("logs/HEAD")));
        git.join("shallow").exists() || commits >= ENOUGH_COMMITS
    })
}

fn repository_files(worktree: &Path) -> Option<PathBuf> {
    git_folder(worktree).filter(|folder| folder.join("HEAD").is_file())
}

/// `None` without Git or a readable repository.
fn counted(git_folder: &Path) -> Option<usize> {
    let mut git = git::command([]);
    git.args(["rev-list", "--count"])
        .arg(format!("--max-count={ENOUGH_COMMITS}"))
        .args(["HEAD", "--"])
        .env("GIT_DIR", git_folder);
    let parts = (OutputPart::First(64), OutputPart::First(0));
    let (end, count, _) =
        process::run(git, ProcessGroup::Own, TIME_LIMIT, parts, &|| false).ok()?;
    let has_counted = matches!(end, ProcessEnd::Exited(status) if status.success());
    let count = String::from_utf8(count.bytes).ok().filter(|_| has_counted);
    count?.trim().parse().ok()
}

fn logged(log: &Path) -> usize {
    let text = files::read_text(log, SizeLimit::SMALL).unwrap_or_default();
    let made = ["\tcommit:", "\tcommit (initial)", "\tcommit (merge)"];
    let lines = text.lines();
    lines
        .filter(|line| made.iter().any(|made| line.contains(made)))
        .count()
}
