//! The rules of ignore files, as `ripgrep` reads them: `.ignore` comes before `.gitignore`, that
//! before Git's `info/exclude`, and all of them before the user's file for all repositories. Among
//! files of one kind the nearest comes first. None of them needs Git.
//!
//! Ignore files come with other people's folders. An ignore file that is too large, or not a
//! regular file of its folder, is an error: otherwise what it excludes could be sent.

use std::cell::Cell;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::files::{self, SizeLimit, resolved};

/// The most bytes of all ignore files in a folder and the folders in it. Compiled rules take many
/// times their length.
const MAX_BYTES: usize = 4 << 20;

/// The rules that hold in a folder.
#[derive(Clone, Debug, Default)]
pub(super) struct IgnoreRules {
    /// The bytes of all files so far, with those of other folders.
    bytes: Rc<Cell<usize>>,
    /// By the kinds of their files, those of the nearest folder last.
    of_folders: [Vec<Rc<Gitignore>>; 3],
    of_user: Vec<Rc<Gitignore>>,
}

impl IgnoreRules {
    /// The path of `folder` is resolved.
    pub(super) fn above(folder: &Path) -> io::Result<Self> {
        let mut all = Self::default();
        let folders: Vec<&Path> = folder.ancestors().skip(1).collect();
        for folder in folders.into_iter().rev() {
            all.add(folder)?;
        }
        Ok(all)
    }

    /// Reads the user's rules for all repositories, here for the one that a folder is in.
    pub(super) fn add_of_user(&mut self, folder: &Path, file: &Path) -> io::Result<()> {
        let mut folders = folder.ancestors();
        let repository = folders.find(|folder| folder.join(".git").exists());
        let content = files::read(file, SizeLimit::SMALL);
        let rules = rules(repository.unwrap_or(folder), file, content);
        self.of_user.extend(rules?);
        Ok(())
    }

    /// Excludes names that begin with a point, unless a file asks for them.
    pub(super) fn hide(&mut self) -> io::Result<()> {
        let hidden = rules(Path::new("/"), Path::new(""), Ok(b".*".to_vec()));
        self.of_user.extend(hidden?);
        Ok(())
    }

    /// The path of `folder` is resolved.
    pub(super) fn add(&mut self, folder: &Path) -> io::Result<()> {
        let git = common_git_folder(folder);
        let files = [
            Some((folder, ".ignore")),
            Some((folder, ".gitignore")),
            git.as_deref().map(|git| (git, "info/exclude")),
        ];
        for (kind, file) in self.of_folders.iter_mut().zip(files) {
            let Some((tree, name)) = file else { continue };
            let path = resolved::within(tree, Path::new(name));
            let mut content = path.and_then(|path| resolved::read(&path, SizeLimit::SMALL));
            self.bytes
                .update(|bytes| bytes + content.as_ref().map_or(0, Vec::len));
            if self.bytes.get() > MAX_BYTES {
                let together = "with the others it has more than 4 MB";
                content = Err(io::Error::other(together));
            }
            kind.extend(rules(folder, &tree.join(name), content)?);
        }
        Ok(())
    }

    pub(super) fn exclude(&self, path: &Path, is_folder: bool) -> bool {
        let files = self.of_folders.iter().flat_map(|kind| kind.iter().rev());
        let files = files.chain(&self.of_user);
        let mut matches = files.map(|rules| rules.matched(path, is_folder));
        let first = matches.find(|found| !found.is_none());
        first.is_some_and(|found| found.is_ignore())
    }
}

/// `None` if there is no file.
fn rules(
    folder: &Path,
    file: &Path,
    content: io::Result<Vec<u8>>,
) -> io::Result<Option<Rc<Gitignore>>> {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    let unusable = |why: &dyn fmt::Display| {
        let file = file.display();
        io::Error::other(format!("the ignore file `{file}` cannot be used: {why}"))
    };
    let is_none = |kind| matches!(kind, NotFound | NotADirectory | IsADirectory);
    let content = match content {
        Err(error) if is_none(error.kind()) => return Ok(None),
        content => content.map_err(|error| unusable(&error))?,
    };
    // Names are bytes: a `?` stands for one that is no character.
    let text = String::from_utf8_lossy(&content).replace('\u{fffd}', "?");
    let mut rules = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A line that is no pattern excludes nothing.
        let _ = rules.add_line(None, line);
    }
    let rules = rules.build().map_err(|error| unusable(&error))?;
    Ok(Some(Rc::new(rules)))
}

/// In a linked working tree and in a submodule, `.git` is a file that names it.
pub(super) fn git_folder(worktree: &Path) -> Option<PathBuf> {
    let dot_git = worktree.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let file = files::read_text(&dot_git, SizeLimit::SMALL).ok()?;
    Some(worktree.join(file.strip_prefix("gitdir:")?.trim()))
}

/// Resolved.
fn common_git_folder(worktree: &Path) -> Option<PathBuf> {
    let git = git_folder(worktree)?;
    let common = files::read_text(&git.join("commondir"), SizeLimit::SMALL);
    fs::canonicalize(git.join(common.unwrap_or_default().trim())).ok()
}
