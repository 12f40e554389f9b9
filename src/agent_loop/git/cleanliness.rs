//! Whether the last commit has a file as it is, so that an edit of it can be undone with Git.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use super::program::{self, Git};
use super::{GitError, IsInterrupted};

/// What Git has of a file. Displayed as a sentence about it.
#[derive(Debug)]
pub enum GitCleanliness {
    /// It is the same in the working tree, in the index and in the last commit.
    Clean,
    /// It differs from the index.
    Changed,
    /// The index differs from the last commit.
    Staged,
    InConflict,
    Untracked,
    Ignored,
    /// The index says that its changes do not count: `assume-unchanged` or `skip-worktree`.
    NotCompared,
    NotInRepository,
    Missing,
    /// Git cannot be asked.
    Unknown(GitError),
}

impl GitCleanliness {
    pub fn is_clean(&self) -> bool {
        matches!(self, Self::Clean)
    }
}

impl fmt::Display for GitCleanliness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clean => "the last Git commit has it as it is",
            Self::Changed => "it has changes that are not committed",
            Self::Staged => "it has staged changes that are not committed",
            Self::InConflict => "it is in conflict after a merge",
            Self::Untracked => "Git does not track it",
            Self::Ignored => "Git ignores it",
            Self::NotCompared => {
                "Git does not look for changes of it (`assume-unchanged` or `skip-worktree`)"
            }
            Self::NotInRepository => "its folder is not in a Git working tree",
            Self::Missing => "it cannot be found",
            Self::Unknown(error) => return write!(f, "Git cannot tell: {error}"),
        })
    }
}

/// Asks Git about the file that a path leads to. A link is followed, as by an edit: the target
/// counts, also in another repository.
pub fn is_clean_in_git(path: &Path, is_interrupted: IsInterrupted<'_>) -> GitCleanliness {
    let Ok(target) = path.canonicalize() else {
        return GitCleanliness::Missing;
    };
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return GitCleanliness::Untracked;
    };
    match ask(folder, name, is_interrupted) {
        Ok(cleanliness) => cleanliness,
        Err(GitError::NotARepository) => GitCleanliness::NotInRepository,
        Err(error) => GitCleanliness::Unknown(error),
    }
}

fn ask(
    folder: &Path,
    name: &OsStr,
    is_interrupted: IsInterrupted<'_>,
) -> Result<GitCleanliness, GitError> {
    let git = Git::find(folder, is_interrupted)?;
    let arguments = ["-z", "-v", "--"].map(OsStr::new);
    let (_, entries) = git.run("ls-files", &[&arguments[..], &[name]].concat())?;
    let in_index = tag_of(&entries, &program::bytes(Path::new(name)));
    let arguments = [
        "--porcelain=v2",
        "-z",
        "--untracked-files=all",
        "--ignored=matching",
        "--no-renames",
        "--ignore-submodules=dirty",
        "--",
    ]
    .map(OsStr::new);
    let (_, status) = git.run("status", &[&arguments[..], &[name]].concat())?;
    Ok(judge(in_index, &status))
}

/// Returns the tag of a file in the output of `git ls-files -v`; `None` if it is not in the index.
fn tag_of(entries: &[u8], name: &[u8]) -> Option<u8> {
    entries.split(|byte| *byte == 0).find_map(|entry| {
        let (tag, rest) = entry.split_first()?;
        (rest.strip_prefix(b" ")? == name).then_some(*tag)
    })
}

/// Judges by the tag of the file, and by what `git status` says of it.
fn judge(tag: Option<u8>, status: &[u8]) -> GitCleanliness {
    let entry = status
        .split(|byte| *byte == 0)
        .find(|entry| matches!(entry.first(), Some(b'1' | b'2' | b'u' | b'?' | b'!')));
    match (tag, entry.unwrap_or_default()) {
        (None, [b'!', ..]) => GitCleanliness::Ignored,
        (None, _) => GitCleanliness::Untracked,
        (Some(_), [b'u', ..]) => GitCleanliness::InConflict,
        // An intent to add is in the index, without a content.
        (Some(_), [b'1' | b'2', b' ', b'.', b'A', ..]) => GitCleanliness::Untracked,
        (Some(_), [b'1' | b'2', b' ', b'.', ..]) => GitCleanliness::Changed,
        (Some(_), [_, ..]) => GitCleanliness::Staged,
        (Some(b'H'), []) => GitCleanliness::Clean,
        (Some(_), []) => GitCleanliness::NotCompared,
    }
}
