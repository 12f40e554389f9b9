//! Runs `git` in a working tree, with all content filters switched off.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::GitError;
use crate::files::git;
use crate::files::process::{self, IsInterrupted, OutputPart, ProcessEnd, ProcessGroup};
use crate::text::clean::clean;

/// The time limit on each command of `git`.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The most output of a command: the paths of half a million files.
const MAX_OUTPUT: usize = 64 << 20;

/// The settings of a filter for contents, which are programs or ask for one. Empty ones are off.
const FILTER_SETTINGS: [&[u8]; 3] = [b".clean", b".process", b".required"];

/// The `git` of a working tree.
pub(super) struct Git<'a> {
    /// A folder in it.
    folder: &'a Path,
    /// The folder at its top.
    pub(super) top: PathBuf,
    /// The settings of all filters, `filter.NAME.clean` and so on.
    filters: BTreeSet<OsString>,
    is_interrupted: IsInterrupted<'a>,
}

impl<'a> Git<'a> {
    pub(super) fn find(
        folder: &'a Path,
        is_interrupted: IsInterrupted<'a>,
    ) -> Result<Self, GitError> {
        let mut git = Self {
            folder,
            top: PathBuf::new(),
            filters: BTreeSet::new(),
            is_interrupted,
        };
        let top = git.run("rev-parse", &["--show-toplevel"])?;
        let top = top.strip_suffix(b"\n").unwrap_or(&top);
        git.top = path(top);
        let names = git.run("config", &["--null", "--name-only", "--list"])?;
        for name in names.split(|byte| *byte == 0) {
            let is_setting = |ending: &&[u8]| name.ends_with(ending);
            if name.starts_with(b"filter.") && FILTER_SETTINGS.iter().any(is_setting) {
                git.filters.insert(OsString::from_vec(name.to_vec()));
            }
        }
        Ok(git)
    }

    /// `None` is the empty tree.
    pub(super) fn changed_between(
        &self,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let (from, to) = match (from, to) {
            (Some(from), Some(to)) => (from, to),
            (None, Some(one)) | (Some(one), None) => return self.files_of(one),
            (None, None) => return Ok(Vec::new()),
        };
        let options = "-r -z --name-only --no-renames --ignore-submodules=dirty";
        let arguments: Vec<&str> = options.split(' ').chain([from, to, "--"]).collect();
        match self.try_run(self.folder, "diff-tree", &arguments, &[128])? {
            Some(names) => Ok(paths(&names)),
            None => self.files_of(to),
        }
    }

    fn files_of(&self, commit: &str) -> Result<Vec<Vec<u8>>, GitError> {
        let arguments = ["-r", "-z", "--name-only", "--full-tree", commit];
        let names = self.run("ls-tree", &arguments)?;
        Ok(paths(&names))
    }

    /// `None` if there is none.
    pub(super) fn object(
        &self,
        folder: &Path,
        revision: &OsStr,
    ) -> Result<Option<String>, GitError> {
        let arguments = ["--verify".as_ref(), "--quiet".as_ref(), revision];
        let object = self.try_run(folder, "rev-parse", &arguments, &[1, 128])?;
        Ok(object.map(|object| String::from_utf8_lossy(&object).trim().to_owned()))
    }

    pub(super) fn run(
        &self,
        command: &'static str,
        arguments: &[impl AsRef<OsStr>],
    ) -> Result<Vec<u8>, GitError> {
        let output = self.try_run(self.folder, command, arguments, &[])?;
        Ok(output.unwrap_or_default())
    }

    /// `None` if the command fails with one of these codes.
    fn try_run(
        &self,
        folder: &Path,
        command: &'static str,
        arguments: &[impl AsRef<OsStr>],
        expected_failures: &[i32],
    ) -> Result<Option<Vec<u8>>, GitError> {
        let mut git = git::command(self.filters.iter().map(OsString::as_os_str));
        git.arg(command).args(arguments).current_dir(folder);
        let parts = (OutputPart::First(MAX_OUTPUT), OutputPart::First(4 << 10));
        let is_interrupted = self.is_interrupted;
        let ran = process::run(git, ProcessGroup::Own, TIME_LIMIT, parts, is_interrupted);
        let (end, stdout, stderr) = ran.map_err(GitError::Unstartable)?;
        let status = match end {
            ProcessEnd::Exited(status) => status,
            ProcessEnd::Interrupted => return Err(GitError::Interrupted),
            ProcessEnd::TimedOut => {
                let seconds = TIME_LIMIT.as_secs();
                return Err(GitError::TooSlow { command, seconds });
            }
        };
        match status.code() {
            Some(0) if stdout.is_cut => Err(GitError::TooManyFiles),
            Some(0) => Ok(Some(stdout.bytes)),
            Some(code) if expected_failures.contains(&code) => Ok(None),
            _ => Err(failure(command, &String::from_utf8_lossy(&stderr.bytes))),
        }
    }
}

fn failure(command: &'static str, message: &str) -> GitError {
    if message.contains("not a git repository") || message.contains("must be run in a work tree") {
        return GitError::NotARepository;
    }
    let line = message.lines().find(|line| !line.trim().is_empty());
    let reason = line.unwrap_or("no reason given");
    let reason = clean(reason.trim_start_matches("fatal: "));
    GitError::Failed { command, reason }
}

/// Splits the output of `-z`.
fn paths(output: &[u8]) -> Vec<Vec<u8>> {
    let names = output.split(|byte| *byte == 0);
    names
        .filter(|name| !name.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

pub(super) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// The commit, and the paths that differ from it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GitStatus {
    /// `None` before the first commit.
    pub(super) head: Option<String>,
    /// From the top of the working tree; that of a repository inside it ends with `/`.
    pub(super) paths: Vec<Vec<u8>>,
}

/// The fields before the path, by the first letter of an entry.
const FIELDS_BEFORE_PATH: [(u8, usize); 4] = [(b'1', 8), (b'2', 9), (b'u', 10), (b'?', 1)];

const COMMIT: &[u8] = b"# branch.oid ";

impl GitStatus {
    pub(super) fn parse(output: &[u8]) -> Self {
        let mut status = Self::default();
        for entry in output.split(|byte| *byte == 0) {
            if let Some(commit) = entry.strip_prefix(COMMIT) {
                let commit = String::from_utf8_lossy(commit).into_owned();
                status.head = Some(commit).filter(|commit| commit != "(initial)");
                continue;
            }
            let kind = entry.first();
            let fields = FIELDS_BEFORE_PATH
                .iter()
                .find(|(letter, _)| Some(letter) == kind);
            let Some((_, fields)) = fields else { continue };
            let path = entry.splitn(fields + 1, |byte| *byte == b' ').nth(*fields);
            status.paths.extend(path.map(<[u8]>::to_vec));
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(output: &str) -> Vec<String> {
        let paths = GitStatus::parse(output.as_bytes()).paths.into_iter();
        paths.map(|path| String::from_utf8(path).unwrap()).collect()
    }

    #[test]
    fn paths_of_all_kinds_of_entries_are_read() {
        let output = "# branch.oid 1234\0# branch.head main\0\
            1 .M N... 100644 100644 100644 58 58 d/b c\0\
            u UU N... 100644 100644 100644 100644 1 2 3 in conflict\0\
            ? new\nfile\0? inner/\0";
        assert_eq!(
            paths(output),
            ["d/b c", "in conflict", "new\nfile", "inner/"]
        );
    }

    #[test]
    fn head_is_the_commit_or_none_before_the_first() {
        let head = |output: &str| GitStatus::parse(output.as_bytes()).head;
        assert_eq!(head("# branch.oid 12ab\0"), Some("12ab".to_owned()));
        assert_eq!(head("# branch.oid (initial)\0# branch.head main\0"), None);
    }

    #[test]
    fn unknown_and_broken_entries_are_skipped() {
        assert_eq!(
            paths("! ignored\0x y z\0\x001 .M N...\0?\0"),
            Vec::<String>::new()
        );
    }
}
