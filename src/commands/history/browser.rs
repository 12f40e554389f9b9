//! Opens a page in the user's browser: that of `BROWSER`, else the system's opener. Programs are
//! started directly, never through a shell.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::config::env::Environment;

/// The system's opener of files.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Opens a file, and waits for no program: a browser may run as long as its windows. Returns whether
/// one was started. The path is absolute: a relative one can begin like an option.
pub(super) fn open(page: &Path, environment: &Environment) -> bool {
    let named = environment.text("BROWSER").unwrap_or_default();
    // `BROWSER` holds alternatives, as in `firefox:lynx %s`.
    let commands = named
        .split(':')
        .filter(|command| !command.trim().is_empty());
    commands.chain([OPENER]).any(|command| start(command, page))
}

fn start(command: &str, page: &Path) -> bool {
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else {
        return false;
    };
    let mut command = Command::new(program);
    let mut names_page = false;
    for word in words {
        if word == "%s" {
            names_page = true;
            command.arg(page);
        } else {
            command.arg(word);
        }
    }
    if !names_page {
        command.arg(page);
    }
    // A browser's remarks are no part of the output.
    let started = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .stdin(Stdio::null())
        .spawn();
    started.is_ok()
}
