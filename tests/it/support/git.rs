//! Git in the folder of a test, without the developer's configuration.

use std::path::Path;
use std::process::Command;

/// Runs Git in a folder.
#[track_caller]
pub(crate) fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@localhost"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}
