//! Runs Git so that it changes nothing and starts no program that a repository's settings name:
//! those settings come with the repository.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

/// The settings that would start programs whatever they are called, and their harmless values.
const HARMLESS_SETTINGS: [&str; 3] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
];

/// A variable whose value is empty.
const EMPTY: &str = "CONCLAVE_EMPTY";

/// Returns the command, to which a subcommand can be added. Settings of these names count as empty.
///
/// A name may hold any byte, also the `=` at which `-c` ends it. The other way is not known to Git
/// before 2.31, which then refuses to run.
pub fn command<'a>(emptied: impl IntoIterator<Item = &'a OsStr>) -> Command {
    let mut git = Command::new("git");
    git.args(["--no-pager", "--no-optional-locks", "--literal-pathspecs"]);
    for setting in HARMLESS_SETTINGS {
        git.args(["-c", setting]);
    }
    for name in emptied {
        let mut option = name.to_owned();
        option.push("=");
        if name.as_bytes().contains(&b'=') {
            option.push(EMPTY);
            git.arg("--config-env").arg(option);
        } else {
            git.arg("-c").arg(option);
        }
    }
    git.env(EMPTY, "");
    // Messages are read.
    git.env("LC_ALL", "C");
    git.env("GIT_TERMINAL_PROMPT", "0");
    // Objects that are missing are not fetched, by whatever protocol the settings allow.
    git.env("GIT_NO_LAZY_FETCH", "1");
    git.env("GIT_ALLOW_PROTOCOL", "");
    git
}
