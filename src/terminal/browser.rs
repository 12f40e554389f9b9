//! Opens a page in the browser that the person or the system has chosen.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// The system's opener of files and addresses.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// A browser may run as long as its windows. Returns whether one was started. The path is absolute:
/// a relative one can begin like an option.
///
/// `named` is `BROWSER`, which holds alternatives, as in `firefox:lynx %s`.
pub fn open_page(page: &Path, named: &str) -> bool {
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
    let page = page.as_os_str();
    let place = |word| if word == "%s" { page } else { OsStr::new(word) };
    let arguments: Vec<&OsStr> = words.map(place).collect();
    let last = (!arguments.contains(&page)).then_some(page);
    // A browser's remarks are no part of the output.
    let started = Command::new(program)
        .args(arguments.into_iter().chain(last))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .stdin(Stdio::null())
        .spawn();
    // Without the wait, its entry stays in the list of processes as long as this process lives.
    started.is_ok_and(|mut browser| {
        let _ = std::thread::Builder::new().spawn(move || browser.wait());
        true
    })
}
