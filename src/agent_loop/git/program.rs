//! Runs `git` so that it changes nothing and starts no other program.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::domain::text::clean;
use crate::files::process::{self, IsInterrupted, OutputPart, ProcessEnd};

use super::GitError;

/// The time limit on each command of `git`.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The most output of a command: the paths of half a million files.
const MOST_OUTPUT: usize = 64 << 20;

/// The settings that would start programs, and their harmless values.
const HARMLESS_SETTINGS: [&str; 4] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    // Objects that are missing are not fetched.
    "protocol.allow=never",
    "core.untrackedCache=false",
];

/// The settings of a filter for contents, which can be programs, and the values that switch them
/// off.
const FILTER_SETTINGS: [(&str, &str); 3] = [("clean", ""), ("process", ""), ("required", "false")];

/// The `git` of a working tree.
pub(super) struct Git<'a> {
    /// A folder in it.
    folder: &'a Path,
    /// The folder at its top.
    pub(super) top: PathBuf,
    /// `filter.NAME` for each filter that the settings define.
    filters: Vec<String>,
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
            filters: Vec::new(),
            is_interrupted,
        };
        let (_, top) = git.run("rev-parse", &["--show-toplevel"])?;
        let top = top.strip_suffix(b"\n").unwrap_or(&top);
        git.top = path(top);
        // Exit code 1: there is none.
        let pattern = r"^filter\..*\.(clean|process)$";
        let arguments = ["--null", "--name-only", "--get-regexp", pattern];
        let (_, names) = git.run_with("config", &arguments, &[0, 1])?;
        for name in names.split(|byte| *byte == 0) {
            let name = std::str::from_utf8(name).ok();
            let filter = name.and_then(|name| name.rsplit_once('.'));
            git.filters
                .extend(filter.map(|(filter, _)| filter.to_owned()));
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
        let mut git = Command::new("git");
        git.args(["--no-pager", "--no-optional-locks", "--literal-pathspecs"]);
        for setting in HARMLESS_SETTINGS {
            git.args(["-c", setting]);
        }
        for filter in &self.filters {
            for (key, value) in FILTER_SETTINGS {
                git.arg("-c").arg(format!("{filter}.{key}={value}"));
            }
        }
        git.arg(command).args(arguments).current_dir(folder);
        // Messages are read below.
        git.env("LC_ALL", "C");
        git.env("GIT_NO_LAZY_FETCH", "1");
        git.env("GIT_TERMINAL_PROMPT", "0");
        let parts = (OutputPart::First(MOST_OUTPUT), OutputPart::First(4 << 10));
        let (end, stdout, stderr) = process::run(git, TIME_LIMIT, parts, self.is_interrupted)
            .map_err(GitError::Unstartable)?;
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
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// Returns a path as `git` writes it.
pub(super) fn bytes(path: &Path) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str())
}
