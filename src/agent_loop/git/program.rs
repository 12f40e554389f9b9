//! Asks `git` about a working tree, in which no filter for contents is run.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::git;
use crate::files::process::{self, IsInterrupted, OutputPart, ProcessEnd, ProcessGroup};
use crate::text::clean::clean;

use super::GitError;

/// The time limit on each command of `git`.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The most output of a command: the paths of half a million files.
const MOST_OUTPUT: usize = 64 << 20;

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
    /// Finds the working tree of a folder.
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
        let (_, top) = git.run("rev-parse", &["--show-toplevel"])?;
        let top = top.strip_suffix(b"\n").unwrap_or(&top);
        git.top = path(top);
        let (_, names) = git.run("config", &["--null", "--name-only", "--list"])?;
        for name in names.split(|byte| *byte == 0) {
            let is_setting = |ending: &&[u8]| name.ends_with(ending);
            if name.starts_with(b"filter.") && FILTER_SETTINGS.iter().any(is_setting) {
                git.filters.insert(OsString::from_vec(name.to_vec()));
            }
        }
        Ok(git)
    }

    /// Returns the paths that differ between two commits; `None` is the empty tree.
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
        let options = [
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            "--ignore-submodules=dirty",
        ];
        let arguments = [&options[..], &[from, to, "--"]].concat();
        // Exit code 128: the earlier commit is gone, after a rebase and a clean-up.
        let (code, names) = self.run_with("diff-tree", &arguments, &[0, 128])?;
        if code == 0 {
            Ok(paths(&names))
        } else {
            self.files_of(to)
        }
    }

    fn files_of(&self, commit: &str) -> Result<Vec<Vec<u8>>, GitError> {
        let arguments = ["-r", "-z", "--name-only", "--full-tree", commit];
        let (_, names) = self.run("ls-tree", &arguments)?;
        Ok(paths(&names))
    }

    /// Returns the commit of a repository in this folder of the working tree.
    pub(super) fn inner_head(&self, folder: &Path) -> Result<Option<String>, GitError> {
        let arguments = ["--verify", "--quiet", "HEAD"];
        let (code, head) = self.run_in(folder, "rev-parse", &arguments, &[0, 1, 128])?;
        let head = String::from_utf8_lossy(&head).trim().to_owned();
        Ok(Some(head).filter(|_| code == 0))
    }

    /// Runs a command of `git` that has to succeed; returns its output.
    pub(super) fn run(
        &self,
        command: &'static str,
        arguments: &[impl AsRef<OsStr>],
    ) -> Result<(i32, Vec<u8>), GitError> {
        self.run_with(command, arguments, &[0])
    }

    fn run_with(
        &self,
        command: &'static str,
        arguments: &[impl AsRef<OsStr>],
        codes: &[i32],
    ) -> Result<(i32, Vec<u8>), GitError> {
        self.run_in(self.folder, command, arguments, codes)
    }

    /// Returns the exit code, one of `codes`, and the output.
    fn run_in(
        &self,
        folder: &Path,
        command: &'static str,
        arguments: &[impl AsRef<OsStr>],
        codes: &[i32],
    ) -> Result<(i32, Vec<u8>), GitError> {
        let mut git = git::command(self.filters.iter().map(OsString::as_os_str));
        git.arg(command).args(arguments).current_dir(folder);
        let parts = (OutputPart::First(MOST_OUTPUT), OutputPart::First(4 << 10));
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
        match status.code().filter(|code| codes.contains(code)) {
            Some(_) if stdout.is_cut => Err(GitError::TooManyFiles),
            Some(code) => Ok((code, stdout.bytes)),
            None => Err(failure(command, &String::from_utf8_lossy(&stderr.bytes))),
        }
    }
}

/// Returns the error behind the message of `git`.
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

/// Returns a path as the system takes it.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// Returns a path as `git` writes it.
pub(super) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}
