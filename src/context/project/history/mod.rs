//! Counts the commits of a project's Git repository, without Git: only whether there are at least
//! [`ENOUGH`] of them is wanted.
//!
//! Counted are, each a lower bound, and the greatest holds:
//! - the commits of the commit graph, which Git writes when it tidies up;
//! - the commits in packs: the kind of a packed object stands before its compressed data, and Git
//!   packs commits first;
//! - the commits that the log of `HEAD` says were made here.
//!
//! Loose objects are not read, because their kind is compressed: the log has those that were made
//! here. A shallow clone has at least one commit that it does not hold, and counts as enough.

mod packs;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::files::{self, SizeLimit};

/// So many commits are a history.
const ENOUGH: usize = 10;
/// Repositories that this one borrows objects from, and those that they borrow from.
const BORROWED: usize = 8;

/// Returns the folder that holds `.git`: the project's or one above it.
pub(super) fn repository(root: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    let mut folders = root.ancestors();
    folders
        .find(|folder| GitFolders::of(folder).is_some())
        .map(Path::to_path_buf)
}

/// Returns whether a repository has a history: ten commits.
pub(super) fn has_history(repository: &Path) -> bool {
    let Some(git) = GitFolders::of(repository) else {
        return false;
    };
    git.common.join("shallow").exists()
        || logged_commits(&git.own.join("logs/HEAD")) >= ENOUGH
        || git.object_folders().iter().any(|objects| {
            graph_commits(&objects.join("info")) >= ENOUGH
                || packs::commits(&objects.join("pack"), ENOUGH) >= ENOUGH
        })
}

/// The folders of Git's files.
struct GitFolders {
    /// Those of this working tree.
    own: PathBuf,
    /// Those that all working trees share.
    common: PathBuf,
}

impl GitFolders {
    /// Returns the folders of a working tree. In a linked one and in a submodule, `.git` is a file
    /// that names its folder.
    fn of(worktree: &Path) -> Option<Self> {
        let dot_git = worktree.join(".git");
        let own = if dot_git.is_dir() {
            dot_git
        } else {
            let file = files::read_text(&dot_git, SizeLimit::SMALL).ok()?;
            worktree.join(file.strip_prefix("gitdir:")?.trim())
        };
        if !own.join("HEAD").is_file() {
            return None;
        }
        let common = match files::read_text(&own.join("commondir"), SizeLimit::SMALL) {
            Ok(path) => own.join(path.trim()),
            Err(_) => own.clone(),
        };
        Some(Self { own, common })
    }

    /// Returns the folder of objects, and those that it borrows from.
    fn object_folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.common.join("objects")];
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned() {
            next += 1;
            let alternates = folder.join("info/alternates");
            let Ok(lines) = files::read_text(&alternates, SizeLimit::SMALL) else {
                continue;
            };
            for line in lines.lines() {
                let borrowed = folder.join(line);
                if folders.len() < BORROWED && !folders.contains(&borrowed) {
                    folders.push(borrowed);
                }
            }
        }
        folders
    }
}

/// Counts the commits that a log of `HEAD` says were made: an amended one was counted before.
fn logged_commits(log: &Path) -> usize {
    let Ok(file) = files::open(log, SizeLimit::NONE) else {
        return 0;
    };
    let made = [
        "\tcommit:",
        "\tcommit (initial)",
        "\tcommit (merge)",
        "\tcherry-pick",
        "\trevert",
        "\tmerge ",
    ];
    BufReader::new(file)
        .split(b'\n')
        .map_while(Result::ok)
        .filter(|line| {
            let line = String::from_utf8_lossy(line);
            made.iter().any(|made| line.contains(made))
        })
        .take(ENOUGH)
        .count()
}

/// Counts the commits of the commit graph, in one file or in a chain of them.
fn graph_commits(info: &Path) -> usize {
    let chain = info.join("commit-graphs");
    let mut graphs = vec![info.join("commit-graph")];
    graphs.extend(
        fs::read_dir(chain)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "graph")),
    );
    let commits = graphs.iter().filter_map(|path| commits_of_graph(path));
    commits.sum()
}

/// Reads the number of commits from a commit graph: the last number of its table `OIDF`, which has
/// for each first byte of a commit's id how many ids are not above it.
fn commits_of_graph(path: &Path) -> Option<usize> {
    const ENTRY: usize = 12;
    let file = files::open(path, SizeLimit::NONE).ok()?;
    let mut start = Vec::new();
    file.take(64 * 1024).read_to_end(&mut start).ok()?;
    if start.get(..4)? != b"CGPH" {
        return None;
    }
    let chunks = usize::from(*start.get(6)?);
    for chunk in start.get(8..)?.chunks_exact(ENTRY).take(chunks) {
        if chunk.get(..4)? == b"OIDF" {
            let offset = usize::try_from(u64::from_be_bytes(chunk.get(4..)?.try_into().ok()?));
            let last = offset.ok()?.checked_add(255 * 4)?;
            return usize::try_from(number(start.get(last..)?)?).ok();
        }
    }
    None
}

/// Reads a number of four bytes, as Git's files have them.
fn number(bytes: &[u8]) -> Option<u32> {
    let bytes = bytes.get(..4)?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}
