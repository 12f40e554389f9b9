//! Whether the last commit has a file as it is, so that an edit of it can be undone with Git.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use super::program::{self, Git};
use super::{GitError, IsInterrupted};

/// What Git has of a file: nothing to say if it is the same in the working tree, in the index and
/// in the last commit. Displayed as a sentence about it.
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

/// Asks Git about a file. A link is not clean: it may come with a project, and lead anywhere.
pub fn is_clean_in_git(path: &Path, is_interrupted: IsInterrupted<'_>) -> GitCleanliness {
    if path.is_symlink() {
        return GitCleanliness(Some("it is a symbolic link".to_owned()));
    }
    let Ok(target) = path.canonicalize() else {
        return GitCleanliness(Some("it cannot be found".to_owned()));
    };
    GitCleanliness(match (target.parent(), target.file_name()) {
        (Some(folder), Some(name)) => match ask(folder, name, is_interrupted) {
            Ok(problem) => problem.map(str::to_owned),
            Err(GitError::NotARepository) => {
                Some("its folder is not in a Git working tree".to_owned())
            }
            Err(error) => Some(format!("Git cannot tell: {error}")),
        },
        _ => Some(UNTRACKED.to_owned()),
    })
}

const UNTRACKED: &str = "Git does not track it";

fn ask(
    folder: &Path,
    name: &OsStr,
    is_interrupted: IsInterrupted<'_>,
) -> Result<Option<&'static str>, GitError> {
    let git = Git::find(folder, is_interrupted)?;
    let arguments = ["-z", "-v", "--"].map(OsStr::new);
    let entries = git.run("ls-files", &[&arguments[..], &[name]].concat())?;
    let in_index = tag_of(&entries, program::bytes(Path::new(name)));
    let arguments = "--porcelain=v2 -z --untracked-files=all --ignored=matching --no-renames \
                     --ignore-submodules=dirty --";
    let arguments = arguments.split(' ').map(OsStr::new).chain([name]);
    let status = git.run("status", &arguments.collect::<Vec<_>>())?;
    Ok(judge(in_index, &status))
}

/// Returns the tag of a file in the output of `git ls-files -v`; `None` if it is not in the index.
fn tag_of(entries: &[u8], name: &[u8]) -> Option<u8> {
    entries.split(|byte| *byte == 0).find_map(|entry| {
        let (tag, rest) = entry.split_first()?;
        (rest.strip_prefix(b" ")? == name).then_some(*tag)
    })
}

/// Returns what is wrong, by the tag of the file and by what `git status` says of it.
fn judge(tag: Option<u8>, status: &[u8]) -> Option<&'static str> {
    let mut entries = status.split(|byte| *byte == 0);
    let entry =
        entries.find(|entry| matches!(entry.first(), Some(b'1' | b'2' | b'u' | b'?' | b'!')));
    match (tag, entry.unwrap_or_default()) {
        (None, [b'!', ..]) => Some("Git ignores it"),
        (None, _) => Some(UNTRACKED),
        (Some(_), [b'u', ..]) => Some("it is in conflict after a merge"),
        // An intent to add is in the index, without a content.
        (Some(_), [b'1' | b'2', b' ', b'.', b'A', ..]) => Some(UNTRACKED),
        (Some(_), [b'1' | b'2', b' ', b'.', ..]) => Some("it has changes that are not committed"),
        (Some(_), [_, ..]) => Some("it has staged changes that are not committed"),
        (Some(b'H'), []) => None,
        // `assume-unchanged` or `skip-worktree`
        (Some(_), []) => {
            Some("Git does not look for changes of it (`assume-unchanged` or `skip-worktree`)")
        }
    }
}
