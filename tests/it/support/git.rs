//! Git in the folder of a test, with nothing of the developer's: no settings, identity or language.

use std::path::Path;
use std::process::Command;

/// Returns a command that runs Git in a folder as on a machine without any settings.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command
        .args(["-c", "user.name=a", "-c", "user.email=a@localhost"])
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command
}

/// Runs Git in a folder.
#[track_caller]
pub(crate) fn git(folder: &Path, arguments: &[&str]) {
    git_output(folder, arguments);
}

/// Runs Git in a folder, and returns what it printed.
#[track_caller]
pub(crate) fn git_output(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = command(folder, arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output.stdout
}
